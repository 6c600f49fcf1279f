test parse
func f(x: f32[n, 8]) {
  %a = view.reshape %x [n, 2, 4]
  %b = view.permute %a [2, 0, 1]
  %c = view.slice %b start [1, 0, 0] len [2, n, 2] step [2, 1, 1]
  %d = view.pad %c lo [0, 1, 0] hi [0, n, 0] interior [0, 0, 1] value 1.5
  %e = view.flip %d [0, 2]
  return y = %e
}
----
func f(x: f32[n, 8]) -> (y) {
  %1 = view.reshape %0 [n, 2, 4] : f32[n, 2, 4]
  %2 = view.permute %1 [2, 0, 1] : f32[4, n, 2]
  %3 = view.slice %2 start [1, 0, 0] len [2, n, 2] step [2, 1, 1] : f32[2, n, 2]
  %4 = view.pad %3 lo [0, 1, 0] hi [0, n, 0] interior [0, 0, 1] value 1.5 : f32[2, 2*n + 1, 3]
  %5 = view.flip %4 [0, 2] : f32[2, 2*n + 1, 3]
  return y = %5
}
