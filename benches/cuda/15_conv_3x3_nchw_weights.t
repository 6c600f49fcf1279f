# row 3x3 convolution, weight gradient f16 nchw
# ruler product
# kernels 1
func wgrad(x: f16[32, 64, 56, 56], dy: f16[32, 64, 56, 56]) -> (dw) {
  %p = view.pad %x lo [0, 0, 1, 1] hi [0, 0, 1, 1] interior [0, 0, 0, 0] value 0.0
  %a = view.window %p axis 2 stride 1 dilation 1 size 3
  %b = view.window %a axis 3 stride 1 dilation 1 size 3
  %dw = contract %b, %dy "abcdef,agcd->gbef" acc f32
  return dw = %dw
}
