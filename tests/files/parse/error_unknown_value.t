test parse
func f(x: f32[4]) {
  %a = add %x, %z
  return y = %a
}
----
error: test:2:16: %z is not defined
