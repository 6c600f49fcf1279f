test verify
func f(x: f8e5m2[4]) {
  %a = reduce.max %x [0]
  return z = %a
}
----
error: test:2:8: reduce.max(f8e5m2[4]): max needs a dtype that is computed with, not only stored (cast to f32 first), got f8e5m2
