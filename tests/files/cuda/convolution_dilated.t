test cuda
# dilation, and more zeros before than after
func dilated(x: f32[2, 24, 40, 40], w: frozen f32[16, 24, 3, 3]) -> (y) {
  %p = view.pad %x lo [0, 0, 3, 3] hi [0, 0, 1, 1] interior [0, 0, 0, 0] value 0.0
  %a = view.window %p axis 2 stride 1 dilation 2 size 3
  %b = view.window %a axis 3 stride 1 dilation 2 size 3
  %y = contract %b, %w "abcdef,gbef->agcd" acc f32
  return y = %y
}
----
k0_contract
  p0: x f32[76800] Read
  p1: w f32[3456] Read
  p2: %5 f32[51200] Write
convolution in f32, 1 groups, windows 1/2 pad 3+1 1/2 pad 3+1: y f32 p2[2, 16, 40, 40] by [25600, 1600, 40, 1] = x f32 p0[2, 24, 40, 40] by [38400, 1600, 40, 1] * w f32 p1[16, 24, 3, 3] by [216, 9, 3, 1]
