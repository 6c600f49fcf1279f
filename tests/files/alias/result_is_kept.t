test alias
func f(x: f32[8], v: f32[2]) {
  %e = exp %x
  %w = write.set.slice %e, %v start [0] step [1]
  return e = %e, w = %w
}
----
%3: functional
