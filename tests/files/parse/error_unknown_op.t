test parse
func f(x: f32[4]) {
  %a = relu6 %x
  return y = %a
}
----
error: test:2:8: unknown op 'relu6'
