# row 1x1 stride-2 convolution f16 [32, 256 -> 512, 56, 56] nchw
# ruler copy
# kernels 1
func conv(x: f16[32, 256, 56, 56], w: f16[512, 256]) -> (y) {
  %s = view.slice %x start [0, 0, 0, 0] len [32, 256, 28, 28] step [1, 1, 2, 2]
  %y = contract %s, %w "abcd,eb->aecd" acc f32
  return y = %y
}
