test simplify
func f(h: f32[3]) {
  %l = loop %h carried 1 scanned 0 trip 5 {
    func step(i: i64[], h: f32[3]) {
      %a = neg %h
      %b = neg %a
      %c = exp %b
      return h = %c
    }
  }
  return y = %l
}
----
func f(h: f32[3]) -> (y) {
  %1 = loop %0 carried 1 scanned 0 trip 5 {
    func step(i: i64[], h: f32[3]) -> (h) {
      %2 = exp %1 : f32[3]
      return h = %2
    }
  } : f32[3]
  return y = %1
}
