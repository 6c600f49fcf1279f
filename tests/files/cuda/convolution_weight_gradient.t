test cuda
# of a convolution with stride 2, padding 1
func wgrad(x: f16[8, 64, 56, 56], dy: f16[8, 32, 28, 28]) -> (dw) {
  %p = view.pad %x lo [0, 0, 1, 1] hi [0, 0, 1, 1] interior [0, 0, 0, 0] value 0.0
  %a = view.window %p axis 2 stride 2 dilation 1 size 3
  %b = view.window %a axis 3 stride 2 dilation 1 size 3
  %dw = contract %b, %dy "abcdef,agcd->gbef" acc f32
  return dw = %dw
}
----
k0_contract
  p0: x f16[1605632] Read
  p1: dy f16[200704] Read
  p2: %5 f16[18432] Write
convolution in f32, 1 groups, windows 2/1 pad 1+1 2/1 pad 1+1: w f16 p2[32, 64, 3, 3] by [576, 9, 3, 1] = x f16 p0[8, 64, 56, 56] by [200704, 3136, 56, 1] * y f16 p1[8, 32, 28, 28] by [25088, 784, 28, 1]
