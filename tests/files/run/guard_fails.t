test run
# x f32[3] = 1 2 3
# y f32[2] = 1 2
func f(x: f32[n], y: f32[m]) {
  %a = add %x, %y   # add @ model.rs:9
  return y = %a
}
----
error: add at model.rs:9: shapes [n] and [m]: n is 3 and m is 2 for these input shapes, and must be equal
