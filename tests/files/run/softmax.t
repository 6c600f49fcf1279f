test run
# x f32[2, 3] = 0.0 0.0 0.0 -inf 1.0 -inf
func f(x: f32[n, 3]) {
  %m = reduce.max %x [1]
  %m1 = view.reshape %m [n, 1]
  %m2 = view.expand %m1 [n, 3]
  %d = sub %x, %m2
  %e = exp %d
  %s = reduce.sum %e [1]
  %s1 = view.reshape %s [n, 1]
  %s2 = view.expand %s1 [n, 3]
  %p = div %e, %s2
  return p = %p
}
----
p f32[2, 3] = 0.33333334 0.33333334 0.33333334 0.0 1.0 0.0
