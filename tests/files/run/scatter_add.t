test run
# x f32[3] = 0 10 20
# v f32[4] = 1 2 3 4
# i i64[4] = 1 1 2 1
func f(x: f32[3], v: f32[4], i: i64[4]) {
  %w = write.add.indices %x, %v, %i [0]
  return y = %w
}
----
y f32[3] = 0.0 17.0 23.0
