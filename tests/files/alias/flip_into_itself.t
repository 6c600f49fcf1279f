test alias
func f(x: donated f32[8]) {
  %r = view.flip %x [0]
  %w = write.add.slice %x, %r start [0] step [1]
  return y = %w
}
----
%2: functional
