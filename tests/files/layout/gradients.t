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
func gradients(x: bf16[8, 64, 28, 28], w: later frozen bf16[128, 64, 3, 3], dy: later bf16[8, 128, 14, 14]) -> (dx, dw) {
  %1 = view.permute %0 [0, 2, 3, 1] : bf16[8, 28, 28, 64]
  %2 = materialize %1 : bf16[8, 28, 28, 64]
  %3 = view.permute %2 [0, 3, 1, 2] : bf16[8, 64, 28, 28]
  %4 = input w : bf16[128, 64, 3, 3]
  %5 = input dy : bf16[8, 128, 14, 14]
  %6 = view.permute %5 [0, 2, 3, 1] : bf16[8, 14, 14, 128]
  %7 = materialize %6 : bf16[8, 14, 14, 128]
  %8 = view.permute %7 [0, 3, 1, 2] : bf16[8, 128, 14, 14]
  %9 = view.pad %8 lo [0, 0, 1, 1] hi [0, 0, 2, 2] interior [0, 0, 1, 1] value 0.0 : bf16[8, 128, 30, 30]
  %10 = view.window %9 axis 2 stride 1 dilation 1 size 3 : bf16[8, 128, 28, 30, 3]
  %11 = view.window %10 axis 3 stride 1 dilation 1 size 3 : bf16[8, 128, 28, 28, 3, 3]
  %12 = view.flip %4 [2, 3] : bf16[128, 64, 3, 3]
  %13 = view.pad %7 lo [0, 1, 1, 0] hi [0, 2, 2, 0] interior [0, 1, 1, 0] value 0.0 : bf16[8, 30, 30, 128]
  %14 = view.window %13 axis 1 stride 1 dilation 1 size 3 : bf16[8, 28, 30, 128, 3]
  %15 = view.window %14 axis 2 stride 1 dilation 1 size 3 : bf16[8, 28, 28, 128, 3, 3]
  %16 = view.permute %4 [0, 2, 3, 1] : bf16[128, 3, 3, 64]
  %17 = materialize %16 : bf16[128, 3, 3, 64]
  %18 = view.flip %17 [1, 2] : bf16[128, 3, 3, 64]
  %19 = contract %15, %18 "acdbef,befg->acdg" acc f32 : bf16[8, 28, 28, 64]
  %20 = view.permute %19 [0, 3, 1, 2] : bf16[8, 64, 28, 28]
  %21 = view.pad %3 lo [0, 0, 1, 1] hi [0, 0, 0, 0] interior [0, 0, 0, 0] value 0.0 : bf16[8, 64, 29, 29]
  %22 = view.window %21 axis 2 stride 1 dilation 2 size 14 : bf16[8, 64, 3, 29, 14]
  %23 = view.window %22 axis 3 stride 1 dilation 2 size 14 : bf16[8, 64, 3, 3, 14, 14]
  %24 = view.pad %2 lo [0, 1, 1, 0] hi [0, 0, 0, 0] interior [0, 0, 0, 0] value 0.0 : bf16[8, 29, 29, 64]
  %25 = view.window %24 axis 1 stride 1 dilation 2 size 14 : bf16[8, 3, 29, 64, 14]
  %26 = view.window %25 axis 2 stride 1 dilation 2 size 14 : bf16[8, 3, 3, 64, 14, 14]
  %27 = contract %26, %7 "acdbef,aefg->gcdb" acc f32 : bf16[128, 3, 3, 64]
  %28 = view.permute %27 [0, 3, 1, 2] : bf16[128, 64, 3, 3]
  %29 = materialize %20 : bf16[8, 64, 28, 28]
  %30 = materialize %28 : bf16[128, 64, 3, 3]
  return dx = %29, dw = %30
}
