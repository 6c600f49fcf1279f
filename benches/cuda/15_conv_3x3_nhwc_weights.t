# row 3x3 convolution, weight gradient f16 nhwc
# ruler product
# kernels 1
func wgrad(x: f16[32, 56, 56, 64], dy: f16[32, 56, 56, 64]) -> (dw) {
  %p = view.pad %x lo [0, 1, 1, 0] hi [0, 1, 1, 0] interior [0, 0, 0, 0] value 0.0
  %a = view.window %p axis 1 stride 1 dilation 1 size 3
  %b = view.window %a axis 2 stride 1 dilation 1 size 3
  %dw = contract %b, %dy "abcdef,abcg->gefd" acc f32
  return dw = %dw
}
