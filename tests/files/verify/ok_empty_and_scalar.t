test verify
func f(x: f32[0, 4], s: i64[]) {
  %m = reduce.sum %x [0, 1]
  return y = %m, s = %s
}
----
ok
