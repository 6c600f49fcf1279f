test simplify
func f(x: f32[4]) {
  %z = const f32 0.0
  %z1 = view.reshape %z [1]
  %z2 = view.expand %z1 [4]
  %a = add %x, %z2
  %b = mul %a, %z2
  %c = sub %b, %b
  %d = cast.f16 %c
  %e = cast.f32 %d
  return y = %e
}
----
func f(x: f32[4]) -> (y) {
  %1 = const f32 0.0 : f32[]
  %2 = view.reshape %1 [1] : f32[1]
  %3 = view.expand %2 [4] : f32[4]
  %4 = add %0, %3 : f32[4]
  %5 = mul %4, %3 : f32[4]
  %6 = sub %5, %5 : f32[4]
  %7 = cast.f16 %6 : f16[4]
  %8 = cast.f32 %7 : f32[4]
  return y = %8
}
