test parse
func f(x: f32[n], y: f32[m]) {
  where n >= 1
  where n <= 64
  %a = add %x, %y   # add @ model.rs:9
  return y = %a
}
----
func f(x: f32[n], y: f32[m]) -> (y) {
  where n >= 1
  where n <= 64
  where m == n
  guard n = m "add at model.rs:9: shapes [n] and [m]"
  %2 = add %0, %1 : f32[n]   # add @ model.rs:9
  return y = %2
}
