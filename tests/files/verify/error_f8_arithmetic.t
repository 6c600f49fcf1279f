test verify
func f(x: f8e4m3[4], y: f8e4m3[4]) {
  %a = add %x, %y
  return z = %a
}
----
error: test:2:8: add(f8e4m3[4], f8e4m3[4]): add does not compute in f8e4m3, which is only stored: cast to f32 first
