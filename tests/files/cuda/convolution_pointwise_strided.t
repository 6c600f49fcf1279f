test cuda
# one tap, every second place
func down(x: f32[4, 64, 56, 56], w: frozen f32[128, 64, 1, 1]) -> (y) {
  %s = view.slice %x start [0, 0, 0, 0] len [4, 64, 28, 28] step [1, 1, 2, 2]
  %r = view.reshape %w [128, 64]
  %y = contract %s, %r "abcd,eb->aecd" acc f32
  return y = %y
}
----
k0_contract
  p0: x f32[802816] Read
  p1: w f32[8192] Read
  p2: %4 f32[401408] Write
convolution in f32, 1 groups, windows 2/1 pad 0+0 2/1 pad 0+0: y f32 p2[4, 128, 28, 28] by [100352, 784, 28, 1] = x f32 p0[4, 64, 56, 56] by [200704, 3136, 56, 1] * w f32 p1[128, 64, 1, 1] by [64, 1, 1, 1]
