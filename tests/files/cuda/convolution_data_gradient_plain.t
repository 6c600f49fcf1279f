test cuda
# of a convolution with stride 1: only the filter's direction tells
func dgrad(dy: f16[8, 32, 56, 56], w: frozen f16[32, 64, 3, 3]) -> (dx) {
  %p = view.pad %dy lo [0, 0, 1, 1] hi [0, 0, 1, 1] interior [0, 0, 0, 0] value 0.0
  %a = view.window %p axis 2 stride 1 dilation 1 size 3
  %b = view.window %a axis 3 stride 1 dilation 1 size 3
  %f = view.flip %w [2, 3]
  %dx = contract %b, %f "abcdef,bgef->agcd" acc f32
  return dx = %dx
}
----
k0_contract
  p0: dy f16[802816] Read
  p1: w f16[18432] Read
  p2: %6 f16[1605632] Write
convolution in f32, 1 groups, windows 1/1 pad 1+1 1/1 pad 1+1: x f16 p2[8, 64, 56, 56] by [200704, 3136, 56, 1] = w f16 p1[32, 64, 3, 3] by [576, 9, 3, 1] * y f16 p0[8, 32, 56, 56] by [100352, 3136, 56, 1]
