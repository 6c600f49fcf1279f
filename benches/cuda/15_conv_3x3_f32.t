# row 3x3 convolution f32 [32, 64, 56, 56] nchw
# ruler product
# kernels 1
func conv(x: f32[32, 64, 56, 56], w: f32[64, 64, 3, 3]) -> (y) {
  %p = view.pad %x lo [0, 0, 1, 1] hi [0, 0, 1, 1] interior [0, 0, 0, 0] value 0.0
  %a = view.window %p axis 2 stride 1 dilation 1 size 3
  %b = view.window %a axis 3 stride 1 dilation 1 size 3
  %y = contract %b, %w "abcdef,gbef->agcd" acc f32
  return y = %y
}
