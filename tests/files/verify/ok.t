test verify
func f(x: f32[n, 4]) {
  %m = reduce.max %x [1]
  %r = view.reshape %m [n, 1]
  %b = view.expand %r [n, 4]
  %d = sub %x, %b
  return y = %d
}
----
ok
