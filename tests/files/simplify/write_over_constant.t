test simplify
func f(x: f32[n, 3], y: f32[n, m], z: f32[1, 8]) {
  %zero = const f32 0.0
  %one = view.reshape %zero [1, 1]
  %buffer = view.expand %one [n, 8]
  %a = write.set.slice %buffer, %x start [0, 1] step [1, 2]
  %wide = view.expand %one [n, m + 4]
  %b = write.set.slice %wide, %y start [0, 4] step [1, 1]
  %c = write.add.slice %buffer, %x start [0, 1] step [1, 2]
  %d = write.set.slice %wide, %y start [0, 0] step [1, 2]
  return a = %a, b = %b, c = %c, d = %d
}
----
func f(x: f32[n, 3], y: f32[n, m], z: f32[1, 8]) -> (a, b, c, d) {
  guard max(m + 4, 2*m - 1) = m + 4 "write.set.slice: the range from 0 with m elements and step 2 must lie in axis 1 of extent m + 4"
  %3 = const f32 0.0 : f32[]
  %4 = view.reshape %3 [1, 1] : f32[1, 1]
  %5 = view.expand %4 [n, 8] : f32[n, 8]
  %6 = view.pad %0 lo [0, 1] hi [0, 2] interior [0, 1] value 0.0 : f32[n, 8]
  %7 = view.expand %4 [n, m + 4] : f32[n, m + 4]
  %8 = view.pad %1 lo [0, 4] hi [0, 0] interior [0, 0] value 0.0 : f32[n, m + 4]
  %9 = write.add.slice %5, %0 start [0, 1] step [1, 2] : f32[n, 8]
  %10 = write.set.slice %7, %1 start [0, 0] step [1, 2] : f32[n, m + 4]
  return a = %6, b = %8, c = %9, d = %10
}
