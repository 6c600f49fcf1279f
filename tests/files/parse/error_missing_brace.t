test parse
func f(x: f32[4]) {
  return y = %x
----
error: test:3:1: expected '}', found the end of the text
