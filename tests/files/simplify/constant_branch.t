test simplify
func f(x: f32[4]) {
  %c = const bool true
  %y = if %c, %x {
    func then(a: f32[4]) {
      %e = exp %a
      return y = %e
    }
    func other(a: f32[4]) {
      %e = neg %a
      return y = %e
    }
  }
  return y = %y
}
----
func f(x: f32[4]) -> (y) {
  %1 = exp %0 : f32[4]
  return y = %1
}
