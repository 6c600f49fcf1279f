# row 3x3 stride-2, data gradient bf16 nchw
# ruler product
# kernels 1
func dgrad(dy: bf16[32, 128, 28, 28], w: bf16[128, 128, 3, 3]) -> (dx) {
  %p = view.pad %dy lo [0, 0, 1, 1] hi [0, 0, 2, 2] interior [0, 0, 1, 1] value 0.0
  %a = view.window %p axis 2 stride 1 dilation 1 size 3
  %b = view.window %a axis 3 stride 1 dilation 1 size 3
  %f = view.flip %w [2, 3]
  %dx = contract %b, %f "abcdef,bgef->agcd" acc f32
  return dx = %dx
}
