# row 7x7 stride-2 stem f16 [32, 3, 224, 224] nchw
# ruler copy
# kernels 1
func conv(x: f16[32, 3, 224, 224], w: f16[64, 3, 7, 7]) -> (y) {
  %p = view.pad %x lo [0, 0, 3, 3] hi [0, 0, 3, 3] interior [0, 0, 0, 0] value 0.0
  %a = view.window %p axis 2 stride 2 dilation 1 size 7
  %b = view.window %a axis 3 stride 2 dilation 1 size 7
  %y = contract %b, %w "abcdef,gbef->agcd" acc f32
  return y = %y
}
