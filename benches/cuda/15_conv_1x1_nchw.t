# row 1x1 convolution f16 [32, 64 -> 256, 56, 56] nchw
# ruler copy
# kernels 1
func conv(x: f16[32, 64, 56, 56], w: f16[256, 64]) -> (y) {
  %y = contract %x, %w "abcd,eb->aecd" acc f32
  return y = %y
}
