test run
# x f32[3] = 1 2 3
# i i64[2] = 0 3
func f(x: f32[3], i: i64[2]) {
  %g = gather %x, %i [0]   # embedding @ model.rs:7
  return y = %g
}
----
error: %2 gather (embedding at model.rs:7): reads index 3 on axis 0, whose extent is 3: indices must be in 0..3
