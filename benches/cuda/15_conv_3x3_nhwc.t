# row 3x3 convolution f16 [32, 64, 56, 56] nhwc
# ruler product
# kernels 1
func conv(x: f16[32, 56, 56, 64], w: f16[64, 3, 3, 64]) -> (y) {
  %p = view.pad %x lo [0, 1, 1, 0] hi [0, 1, 1, 0] interior [0, 0, 0, 0] value 0.0
  %a = view.window %p axis 1 stride 1 dilation 1 size 3
  %b = view.window %a axis 2 stride 1 dilation 1 size 3
  %y = contract %b, %w "abcdef,gefd->abcg" acc f32
  return y = %y
}
