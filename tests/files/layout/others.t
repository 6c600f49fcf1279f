test layout
# three channels, groups, elements of 32 bits, and pointwise convolutions of what no other made stay as they are
func others(x: f16[8, 3, 28, 28], w: frozen f16[64, 3, 3, 3], z: f32[2, 8, 9, 9], u: frozen f32[8, 8, 3, 3], v: frozen f16[16, 8], t: f16[2, 8, 9, 9]) -> (a, b, c) {
  %t1 = view.window %x axis 2 stride 1 dilation 1 size 3
  %t2 = view.window %t1 axis 3 stride 1 dilation 1 size 3
  %a = contract %t2, %w "abcdef,gbef->agcd" acc f32
  %t3 = view.window %z axis 2 stride 1 dilation 1 size 3
  %t4 = view.window %t3 axis 3 stride 1 dilation 1 size 3
  %b = contract %t4, %u "abcdef,gbef->agcd" acc f32
  %c = contract %t, %v "abcd,eb->aecd" acc f32
  return a = %a, b = %b, c = %c
}
----
func others(x: f16[8, 3, 28, 28], w: frozen f16[64, 3, 3, 3], z: f32[2, 8, 9, 9], u: frozen f32[8, 8, 3, 3], v: frozen f16[16, 8], t: f16[2, 8, 9, 9]) -> (a, b, c) {
  %6 = view.window %0 axis 2 stride 1 dilation 1 size 3 : f16[8, 3, 26, 28, 3]
  %7 = view.window %6 axis 3 stride 1 dilation 1 size 3 : f16[8, 3, 26, 26, 3, 3]
  %8 = contract %7, %1 "abcdef,gbef->agcd" acc f32 : f16[8, 64, 26, 26]
  %9 = view.window %2 axis 2 stride 1 dilation 1 size 3 : f32[2, 8, 7, 9, 3]
  %10 = view.window %9 axis 3 stride 1 dilation 1 size 3 : f32[2, 8, 7, 7, 3, 3]
  %11 = contract %10, %3 "abcdef,gbef->agcd" acc f32 : f32[2, 8, 7, 7]
  %12 = contract %5, %4 "abcd,eb->aecd" acc f32 : f16[2, 16, 9, 9]
  return a = %8, b = %11, c = %12
}
