test cuda
func conv3d(x: bf16[2, 16, 8, 14, 14], w: frozen bf16[32, 16, 3, 3, 3]) -> (y) {
  %p = view.pad %x lo [0, 0, 1, 1, 1] hi [0, 0, 1, 1, 1] interior [0, 0, 0, 0, 0] value 0.0
  %a = view.window %p axis 2 stride 1 dilation 1 size 3
  %b = view.window %a axis 3 stride 2 dilation 1 size 3
  %c = view.window %b axis 4 stride 2 dilation 1 size 3
  %y = contract %c, %w "abcdefgh,ibfgh->aicde" acc f32
  return y = %y
}
----
k0_contract
  p0: x bf16[50176] Read
  p1: w bf16[13824] Read
  p2: %6 bf16[25088] Write
convolution in f32, 1 groups, windows 1/1 pad 1+1 2/1 pad 1+1 2/1 pad 1+1: y bf16 p2[2, 32, 8, 7, 7] by [12544, 392, 49, 7, 1] = x bf16 p0[2, 16, 8, 14, 14] by [25088, 1568, 196, 14, 1] * w bf16 p1[32, 16, 3, 3, 3] by [432, 27, 9, 3, 1]
