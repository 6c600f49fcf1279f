test alias
func f(x: donated f32[8], v: f32[2]) {
  %w = write.set.slice %x, %v start [0] step [1]
  %u = write.set.slice %x, %v start [4] step [1]
  %z = write.set.slice %u, %v start [6] step [1]
  return a = %w, b = %z
}
----
%2: in place after [%3]
%3: functional
%4: in place after []
