test alias
func f(x: donated f32[8], v: f32[2]) {
  %n = exp %x
  %w = write.set.slice %x, %v start [0] step [1]
  return a = %n, b = %w
}
----
%3: in place after [%2]
