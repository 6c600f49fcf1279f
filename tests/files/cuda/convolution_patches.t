test cuda
# windows side by side, as of a vision transformer
func patches(x: f32[4, 3, 224, 224], w: frozen f32[192, 3, 16, 16]) -> (y) {
  %a = view.window %x axis 2 stride 16 dilation 1 size 16
  %b = view.window %a axis 3 stride 16 dilation 1 size 16
  %y = contract %b, %w "abcdef,gbef->agcd" acc f32
  return y = %y
}
----
k0_contract
  p0: x f32[602112] Read
  p1: w f32[147456] Read
  p2: %4 f32[150528] Write
convolution in f32, 1 groups, windows 16/1 pad 0+0 16/1 pad 0+0: y f32 p2[4, 192, 14, 14] by [37632, 196, 14, 1] = x f32 p0[4, 3, 224, 224] by [150528, 50176, 224, 1] * w f32 p1[192, 3, 16, 16] by [768, 256, 16, 1]
