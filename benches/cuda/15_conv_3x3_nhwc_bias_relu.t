# row 3x3 convolution, bias, relu f16 [32, 64, 56, 56] nhwc
# ruler product
# kernels 1
func conv(x: f16[32, 56, 56, 64], w: f16[64, 3, 3, 64], b: f16[64]) -> (y) {
  %p = view.pad %x lo [0, 1, 1, 0] hi [0, 1, 1, 0] interior [0, 0, 0, 0] value 0.0
  %a = view.window %p axis 1 stride 1 dilation 1 size 3
  %c = view.window %a axis 2 stride 1 dilation 1 size 3
  %d = contract %c, %w "abcdef,gefd->abcg" acc f32
  %r = view.reshape %b [1, 1, 1, 64]
  %e = view.expand %r [32, 56, 56, 64]
  %s = add %d, %e
  %zero = const f16 0.0 : f16[]
  %q = view.reshape %zero [1, 1, 1, 1]
  %z = view.expand %q [32, 56, 56, 64]
  %y = max %s, %z
  return y = %y
}
