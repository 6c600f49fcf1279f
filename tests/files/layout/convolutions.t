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
func block(x: f16[8, 64, 28, 28], w: later frozen f16[64, 64, 3, 3], v: later frozen f16[128, 64]) -> (y, s) {
  %1 = view.permute %0 [0, 2, 3, 1] : f16[8, 28, 28, 64]
  %2 = materialize %1 : f16[8, 28, 28, 64]
  %3 = view.permute %2 [0, 3, 1, 2] : f16[8, 64, 28, 28]
  %4 = input w : f16[64, 64, 3, 3]
  %5 = input v : f16[128, 64]
  %6 = view.pad %3 lo [0, 0, 1, 1] hi [0, 0, 1, 1] interior [0, 0, 0, 0] value 0.0 : f16[8, 64, 30, 30]
  %7 = view.window %6 axis 2 stride 1 dilation 1 size 3 : f16[8, 64, 28, 30, 3]
  %8 = view.window %7 axis 3 stride 1 dilation 1 size 3 : f16[8, 64, 28, 28, 3, 3]
  %9 = view.pad %2 lo [0, 1, 1, 0] hi [0, 1, 1, 0] interior [0, 0, 0, 0] value 0.0 : f16[8, 30, 30, 64]
  %10 = view.window %9 axis 1 stride 1 dilation 1 size 3 : f16[8, 28, 30, 64, 3]
  %11 = view.window %10 axis 2 stride 1 dilation 1 size 3 : f16[8, 28, 28, 64, 3, 3]
  %12 = view.permute %4 [0, 2, 3, 1] : f16[64, 3, 3, 64]
  %13 = materialize %12 : f16[64, 3, 3, 64]
  %14 = contract %11, %13 "acdbef,gefb->acdg" acc f32 : f16[8, 28, 28, 64]
  %15 = view.permute %14 [0, 3, 1, 2] : f16[8, 64, 28, 28]
  %16 = exp %15 : f16[8, 64, 28, 28]
  %17 = view.permute %16 [0, 2, 3, 1] : f16[8, 28, 28, 64]
  %18 = materialize %17 : f16[8, 28, 28, 64]
  %19 = view.permute %18 [0, 3, 1, 2] : f16[8, 64, 28, 28]
  %20 = contract %18, %5 "acdb,eb->acde" acc f32 : f16[8, 28, 28, 128]
  %21 = view.permute %20 [0, 3, 1, 2] : f16[8, 128, 28, 28]
  %22 = reduce.sum %19 [1] : f16[8, 28, 28]
  %23 = materialize %21 : f16[8, 128, 28, 28]
  return y = %23, s = %22
}
