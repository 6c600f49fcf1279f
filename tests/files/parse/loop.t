test parse
func f(h: f32[3], xs: f32[t, 3]) {
  %l = loop %h, %xs carried 1 scanned 1 trip t {
    func step(i: i64[], h: f32[3], x: f32[3]) {
      %a = add %h, %x
      return h = %a, y = %a
    }
  }
  %r = result %l [1]
  return y = %r
}
----
func f(h: f32[3], xs: f32[t, 3]) -> (y) {
  %2 = loop %0, %1 carried 1 scanned 1 trip t {
    func step(i: i64[], h: f32[3], x: f32[3]) -> (h, y) {
      %3 = add %1, %2 : f32[3]
      return h = %3, y = %3
    }
  } : (f32[3], f32[t, 3])
  %3 = result %2 [1] : f32[t, 3]
  return y = %3
}
