test cuda
# one tap: batch and places are two contracted axes, which no single product takes
func wgrad(x: f16[8, 64, 28, 28], dy: f16[8, 32, 28, 28]) -> (dw) {
  %dw = contract %x, %dy "abcd,agcd->gb" acc f32
  return dw = %dw
}
----
k0_contract
  p0: x f16[401408] Read
  p1: dy f16[200704] Read
  p2: %2 f16[2048] Write
convolution in f32, 1 groups, windows 1/1 pad 0+0 1/1 pad 0+0: w f16 p2[32, 64, 1, 1] by [64, 1, 1, 1] = x f16 p0[8, 64, 1, 784] by [50176, 784, 784, 1] * y f16 p1[8, 32, 1, 784] by [25088, 784, 784, 1]
