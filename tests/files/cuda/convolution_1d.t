test cuda
func conv1d(x: f32[4, 80, 3000], w: frozen f32[384, 80, 3]) -> (y) {
  %p = view.pad %x lo [0, 0, 1] hi [0, 0, 1] interior [0, 0, 0] value 0.0
  %a = view.window %p axis 2 stride 1 dilation 1 size 3
  %y = contract %a, %w "abcd,ebd->aec" acc f32
  return y = %y
}
----
k0_contract
  p0: x f32[960000] Read
  p1: w f32[92160] Read
  p2: %4 f32[4608000] Write
convolution in f32, 1 groups, windows 1/1 pad 0+0 1/1 pad 1+1: y f32 p2[4, 384, 1, 3000] by [1152000, 3000, 3000, 1] = x f32 p0[4, 80, 1, 3000] by [240000, 3000, 3000, 1] * w f32 p1[384, 80, 1, 3] by [240, 3, 3, 1]
