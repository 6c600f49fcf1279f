test cuda
# no condition tells windows from other axes, nor the last column, which no window reaches
func conv(x: bf16[4, 16, 32, 37], w: frozen bf16[24, 16, 5, 3]) -> (y) {
  %a = view.window %x axis 2 stride 1 dilation 1 size 5
  %b = view.window %a axis 3 stride 3 dilation 1 size 3
  %y = contract %b, %w "abcdef,gbef->agcd" acc f32
  return y = %y
}
----
k0_contract
  p0: x bf16[75776] Read
  p1: w bf16[5760] Read
  p2: %4 bf16[32256] Write
convolution in f32, 1 groups, windows 1/1 pad 0+0 3/1 pad 0+0: y bf16 p2[4, 24, 28, 12] by [8064, 336, 12, 1] = x bf16 p0[4, 16, 32, 37] by [18944, 1184, 37, 1] * w bf16 p1[24, 16, 5, 3] by [240, 15, 3, 1]
