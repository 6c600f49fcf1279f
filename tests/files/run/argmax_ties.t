test run
# x f32[2, 4] = 1 3 3 0 2 nan 5 nan
func f(x: f32[2, 4]) {
  %r = reduce.argmax %x [1]
  %v = result %r [0]
  %i = result %r [1]
  return value = %v, index = %i
}
----
value f32[2] = 3.0 nan
index i64[2] = 1 1
