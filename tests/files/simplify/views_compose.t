test simplify
func f(x: f32[n, 6]) {
  %a = view.reshape %x [n, 2, 3]
  %b = view.reshape %a [n, 1, 6]
  %c = view.permute %b [1, 0, 2]
  %d = view.slice %c start [0, 0, 0] len [1, n, 6] step [1, 1, 1]
  %e = view.reshape %d [n, 6]
  return y = %e
}
----
func f(x: f32[n, 6]) -> (y) {
  return y = %0
}
