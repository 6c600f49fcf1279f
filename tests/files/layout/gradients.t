test layout
func gradients(x: bf16[8, 64, 28, 28], w: frozen bf16[128, 64, 3, 3], dy: bf16[8, 128, 14, 14]) -> (dx, dw) {
  %p = view.pad %dy lo [0, 0, 1, 1] hi [0, 0, 2, 2] interior [0, 0, 1, 1] value 0.0
  %a = view.window %p axis 2 stride 1 dilation 1 size 3
  %b = view.window %a axis 3 stride 1 dilation 1 size 3
  %f = view.flip %w [2, 3]
  %dx = contract %b, %f "abcdef,bgef->agcd" acc f32
  %q = view.pad %x lo [0, 0, 1, 1] hi [0, 0, 0, 0] interior [0, 0, 0, 0] value 0.0
  %c = view.window %q axis 2 stride 1 dilation 2 size 14
  %d = view.window %c axis 3 stride 1 dilation 2 size 14
  %dw = contract %d, %dy "abcdef,agef->gbcd" acc f32
  return dx = %dx, dw = %dw
}
----
func gradients(x: bf16[8, 64, 28, 28], w: frozen bf16[128, 64, 3, 3], dy: bf16[8, 128, 14, 14]) -> (dx, dw) {
  %3 = view.pad %2 lo [0, 0, 1, 1] hi [0, 0, 2, 2] interior [0, 0, 1, 1] value 0.0 : bf16[8, 128, 30, 30]
  %4 = view.window %3 axis 2 stride 1 dilation 1 size 3 : bf16[8, 128, 28, 30, 3]
  %5 = view.window %4 axis 3 stride 1 dilation 1 size 3 : bf16[8, 128, 28, 28, 3, 3]
  %6 = view.flip %1 [2, 3] : bf16[128, 64, 3, 3]
  %7 = view.permute %2 [0, 2, 3, 1] : bf16[8, 14, 14, 128]
  %8 = materialize %7 : bf16[8, 14, 14, 128]
  %9 = view.pad %8 lo [0, 1, 1, 0] hi [0, 2, 2, 0] interior [0, 1, 1, 0] value 0.0 : bf16[8, 30, 30, 128]
  %10 = view.window %9 axis 1 stride 1 dilation 1 size 3 : bf16[8, 28, 30, 128, 3]
  %11 = view.window %10 axis 2 stride 1 dilation 1 size 3 : bf16[8, 28, 28, 128, 3, 3]
  %12 = view.permute %1 [0, 2, 3, 1] : bf16[128, 3, 3, 64]
  %13 = materialize %12 : bf16[128, 3, 3, 64]
  %14 = view.flip %13 [1, 2] : bf16[128, 3, 3, 64]
  %15 = contract %11, %14 "acdbef,befg->acdg" acc f32 : bf16[8, 28, 28, 64]
  %16 = view.permute %15 [0, 3, 1, 2] : bf16[8, 64, 28, 28]
  %17 = view.pad %0 lo [0, 0, 1, 1] hi [0, 0, 0, 0] interior [0, 0, 0, 0] value 0.0 : bf16[8, 64, 29, 29]
  %18 = view.window %17 axis 2 stride 1 dilation 2 size 14 : bf16[8, 64, 3, 29, 14]
  %19 = view.window %18 axis 3 stride 1 dilation 2 size 14 : bf16[8, 64, 3, 3, 14, 14]
  %20 = view.permute %0 [0, 2, 3, 1] : bf16[8, 28, 28, 64]
  %21 = materialize %20 : bf16[8, 28, 28, 64]
  %22 = view.pad %21 lo [0, 1, 1, 0] hi [0, 0, 0, 0] interior [0, 0, 0, 0] value 0.0 : bf16[8, 29, 29, 64]
  %23 = view.window %22 axis 1 stride 1 dilation 2 size 14 : bf16[8, 3, 29, 64, 14]
  %24 = view.window %23 axis 2 stride 1 dilation 2 size 14 : bf16[8, 3, 3, 64, 14, 14]
  %25 = contract %24, %8 "acdbef,aefg->gcdb" acc f32 : bf16[128, 3, 3, 64]
  %26 = view.permute %25 [0, 3, 1, 2] : bf16[128, 64, 3, 3]
  %27 = materialize %16 : bf16[8, 64, 28, 28]
  %28 = materialize %26 : bf16[128, 64, 3, 3]
  return dx = %27, dw = %28
}
