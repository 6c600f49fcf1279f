test simplify
func f(x: f32[n, 8]) {
  %a = view.slice %x start [0, 0] len [n, 3] step [1, 1]
  %b = view.slice %x start [0, 3] len [n, 5] step [1, 1]
  %c = concat %a, %b [1]
  return y = %c
}
----
func f(x: f32[n, 8]) -> (y) {
  return y = %0
}
