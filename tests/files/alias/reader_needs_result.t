test alias
func f(x: donated f32[8], v: f32[2]) {
  %w = write.set.slice %x, %v start [0] step [1]
  %d = sub %w, %x
  return a = %d
}
----
%2: functional
