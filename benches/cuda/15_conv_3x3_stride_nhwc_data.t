# row 3x3 stride-2, data gradient bf16 nhwc
# ruler product
# kernels 1
func dgrad(dy: bf16[32, 28, 28, 128], w: bf16[128, 3, 3, 128]) -> (dx) {
  %p = view.pad %dy lo [0, 1, 1, 0] hi [0, 2, 2, 0] interior [0, 1, 1, 0] value 0.0
  %a = view.window %p axis 1 stride 1 dilation 1 size 3
  %b = view.window %a axis 2 stride 1 dilation 1 size 3
  %f = view.flip %w [1, 2]
  %dx = contract %b, %f "abcdef,defg->abcg" acc f32
  return dx = %dx
}
