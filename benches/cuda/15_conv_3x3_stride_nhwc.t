# row 3x3 stride-2 convolution bf16 [32, 128, 56, 56] nhwc
# ruler product
# kernels 1
func conv(x: bf16[32, 56, 56, 128], w: bf16[128, 3, 3, 128]) -> (y) {
  %p = view.pad %x lo [0, 1, 1, 0] hi [0, 1, 1, 0] interior [0, 0, 0, 0] value 0.0
  %a = view.window %p axis 1 stride 2 dilation 1 size 3
  %b = view.window %a axis 2 stride 2 dilation 1 size 3
  %y = contract %b, %w "abcdef,gefd->abcg" acc f32
  return y = %y
}
