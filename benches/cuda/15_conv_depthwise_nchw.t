# row depthwise 3x3 f16 [32, 144, 56, 56] nchw
# ruler copy
# kernels 1
func depthwise(x: f16[32, 144, 56, 56], w: f16[144, 3, 3]) -> (y) {
  %p = view.pad %x lo [0, 0, 1, 1] hi [0, 0, 1, 1] interior [0, 0, 0, 0] value 0.0
  %a = view.window %p axis 2 stride 1 dilation 1 size 3
  %b = view.window %a axis 3 stride 1 dilation 1 size 3
  %y = contract %b, %w "abcdef,bef->abcd" acc f32
  return y = %y
}
