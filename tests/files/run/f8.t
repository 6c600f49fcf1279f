test run
# x f32[8] = 1.0625 464.0 480.0 -inf nan 0.0009765625 0.0029296875 -500.0
func f(x: f32[8]) {
  %a = cast.f8e4m3 %x
  %b = cast.f8e5m2 %x
  %c = cast.f32 %a
  %d = cast.f16 %b
  return a = %a, b = %b, c = %c, d = %d
}
----
a f8e4m3[8] = 1.0 448.0 nan nan nan 0.0 0.00390625 nan
b f8e5m2[8] = 1.0 448.0 512.0 -inf nan 0.0009765625 0.0029296875 -512.0
c f32[8] = 1.0 448.0 nan nan nan 0.0 0.00390625 nan
d f16[8] = 1.0 448.0 512.0 -inf nan 0.0009765625 0.0029296875 -512.0
