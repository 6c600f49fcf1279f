test simplify
func f(x: f32[4]) {
  %a = const f32 6.0
  %a1 = view.reshape %a [1]
  %a2 = view.expand %a1 [4]
  %b = const f32 8.0
  %b1 = view.reshape %b [1]
  %b2 = view.expand %b1 [4]
  %c = min %x, %a2
  %d = min %c, %b2
  return y = %d
}
----
func f(x: f32[4]) -> (y) {
  %1 = const f32 6.0 : f32[]
  %2 = view.reshape %1 [1] : f32[1]
  %3 = view.expand %2 [4] : f32[4]
  %4 = min %0, %3 : f32[4]
  return y = %4
}
