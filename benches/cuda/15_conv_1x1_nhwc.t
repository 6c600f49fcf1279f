# row 1x1 convolution f16 [32, 64 -> 256, 56, 56] nhwc
# ruler copy
# kernels 1
func conv(x: f16[32, 56, 56, 64], w: f16[256, 64]) -> (y) {
  %y = contract %x, %w "abcd,ed->abce" acc f32
  return y = %y
}
