# row 3x3 convolution, data gradient f16 nhwc
# ruler product
# kernels 1
func dgrad(dy: f16[32, 56, 56, 64], w: f16[64, 3, 3, 64]) -> (dx) {
  %p = view.pad %dy lo [0, 1, 1, 0] hi [0, 1, 1, 0] interior [0, 0, 0, 0] value 0.0
  %a = view.window %p axis 1 stride 1 dilation 1 size 3
  %b = view.window %a axis 2 stride 1 dilation 1 size 3
  %f = view.flip %w [1, 2]
  %dx = contract %b, %f "abcdef,defg->abcg" acc f32
  return dx = %dx
}
