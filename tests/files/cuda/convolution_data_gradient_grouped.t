test cuda
func dgrad(dy: f16[2, 32, 14, 14], w: frozen f16[32, 4, 3, 3]) -> (dx) {
  %p = view.pad %dy lo [0, 0, 1, 1] hi [0, 0, 1, 1] interior [0, 0, 0, 0] value 0.0
  %a = view.window %p axis 2 stride 1 dilation 1 size 3
  %b = view.window %a axis 3 stride 1 dilation 1 size 3
  %c = view.reshape %b [2, 4, 8, 14, 14, 3, 3]
  %f = view.flip %w [2, 3]
  %v = view.reshape %f [4, 8, 4, 3, 3]
  %z = contract %c, %v "abcdefh,bcifh->abide" acc f32
  %dx = view.reshape %z [2, 16, 14, 14]
  return dx = %dx
}
----
k0_contract
  p0: dy f16[12544] Read
  p1: w f16[1152] Read
  p2: %8 f16[6272] Write
convolution in f32, 4 groups, windows 1/1 pad 1+1 1/1 pad 1+1: x f16 p2[2, 16, 14, 14] by [3136, 196, 14, 1] = w f16 p1[32, 4, 3, 3] by [36, 9, 3, 1] * y f16 p0[2, 32, 14, 14] by [6272, 196, 14, 1]
