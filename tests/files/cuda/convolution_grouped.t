test cuda
func grouped(x: f16[8, 64, 28, 28], w: frozen f16[128, 16, 3, 3]) -> (y) {
  %p = view.pad %x lo [0, 0, 1, 1] hi [0, 0, 1, 1] interior [0, 0, 0, 0] value 0.0
  %a = view.window %p axis 2 stride 1 dilation 1 size 3
  %b = view.window %a axis 3 stride 1 dilation 1 size 3
  %c = view.reshape %b [8, 4, 16, 28, 28, 3, 3]
  %v = view.reshape %w [4, 32, 16, 3, 3]
  %z = contract %c, %v "abdefhi,bcdhi->abcef" acc f32
  %y = view.reshape %z [8, 128, 28, 28]
  return y = %y
}
----
k0_contract
  p0: x f16[401408] Read
  p1: w f16[18432] Read
  p2: %7 f16[802816] Write
convolution in f32, 4 groups, windows 1/1 pad 1+1 1/1 pad 1+1: y f16 p2[8, 128, 28, 28] by [100352, 784, 28, 1] = x f16 p0[8, 64, 28, 28] by [50176, 784, 28, 1] * w f16 p1[128, 16, 3, 3] by [144, 9, 3, 1]
