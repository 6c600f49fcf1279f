test layout
# the first result is read by the second convolution as it is stored, and by the sum through a permutation; the output is as before
func block(x: f16[8, 64, 28, 28], w: frozen f16[64, 64, 3, 3], v: frozen f16[128, 64]) -> (y, s) {
  %p = view.pad %x lo [0, 0, 1, 1] hi [0, 0, 1, 1] interior [0, 0, 0, 0] value 0.0
  %a = view.window %p axis 2 stride 1 dilation 1 size 3
  %b = view.window %a axis 3 stride 1 dilation 1 size 3
  %c = contract %b, %w "abcdef,gbef->agcd" acc f32
  %r = exp %c
  %y = contract %r, %v "abcd,eb->aecd" acc f32
  %s = reduce.sum %r [1]
  return y = %y, s = %s
}
----
func block(x: f16[8, 64, 28, 28], w: frozen f16[64, 64, 3, 3], v: frozen f16[128, 64]) -> (y, s) {
  %3 = view.pad %0 lo [0, 0, 1, 1] hi [0, 0, 1, 1] interior [0, 0, 0, 0] value 0.0 : f16[8, 64, 30, 30]
  %4 = view.window %3 axis 2 stride 1 dilation 1 size 3 : f16[8, 64, 28, 30, 3]
  %5 = view.window %4 axis 3 stride 1 dilation 1 size 3 : f16[8, 64, 28, 28, 3, 3]
  %6 = view.permute %0 [0, 2, 3, 1] : f16[8, 28, 28, 64]
  %7 = materialize %6 : f16[8, 28, 28, 64]
  %8 = view.pad %7 lo [0, 1, 1, 0] hi [0, 1, 1, 0] interior [0, 0, 0, 0] value 0.0 : f16[8, 30, 30, 64]
  %9 = view.window %8 axis 1 stride 1 dilation 1 size 3 : f16[8, 28, 30, 64, 3]
  %10 = view.window %9 axis 2 stride 1 dilation 1 size 3 : f16[8, 28, 28, 64, 3, 3]
  %11 = view.permute %1 [0, 2, 3, 1] : f16[64, 3, 3, 64]
  %12 = materialize %11 : f16[64, 3, 3, 64]
  %13 = contract %10, %12 "acdbef,gefb->acdg" acc f32 : f16[8, 28, 28, 64]
  %14 = view.permute %13 [0, 3, 1, 2] : f16[8, 64, 28, 28]
  %15 = exp %14 : f16[8, 64, 28, 28]
  %16 = view.permute %15 [0, 2, 3, 1] : f16[8, 28, 28, 64]
  %17 = materialize %16 : f16[8, 28, 28, 64]
  %18 = view.permute %17 [0, 3, 1, 2] : f16[8, 64, 28, 28]
  %19 = contract %17, %2 "acdb,eb->acde" acc f32 : f16[8, 28, 28, 128]
  %20 = view.permute %19 [0, 3, 1, 2] : f16[8, 128, 28, 28]
  %21 = reduce.sum %18 [1] : f16[8, 28, 28]
  %22 = materialize %20 : f16[8, 128, 28, 28]
  return y = %22, s = %21
}
