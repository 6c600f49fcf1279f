# row 3x3 convolution, data gradient f16 nchw
# ruler product
# kernels 1
func dgrad(dy: f16[32, 64, 56, 56], w: f16[64, 64, 3, 3]) -> (dx) {
  %p = view.pad %dy lo [0, 0, 1, 1] hi [0, 0, 1, 1] interior [0, 0, 0, 0] value 0.0
  %a = view.window %p axis 2 stride 1 dilation 1 size 3
  %b = view.window %a axis 3 stride 1 dilation 1 size 3
  %f = view.flip %w [2, 3]
  %dx = contract %b, %f "abcdef,bgef->agcd" acc f32
  return dx = %dx
}
