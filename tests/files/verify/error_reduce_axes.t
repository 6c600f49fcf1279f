test verify
func f(x: f32[4, 5]) {
  %a = reduce.sum %x [1, 0]
  return y = %a
}
----
error: test:2:8: reduce.sum(f32[4, 5]): axes [1, 0] must be ascending
