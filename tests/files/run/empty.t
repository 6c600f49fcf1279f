test run
# x f32[0, 3] =
func f(x: f32[n, 3]) {
  %s = reduce.sum %x [0]
  %m = reduce.max %x [0]
  return s = %s, m = %m, x = %x
}
----
s f32[3] = 0.0 0.0 0.0
m f32[3] = -inf -inf -inf
x f32[0, 3] =
