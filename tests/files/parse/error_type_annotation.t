test parse
func f(x: f32[4]) {
  %a = neg %x : f32[5]
  return y = %a
}
----
error: test:2:8: the type is f32[4], not f32[5]
