test plan
# row 12: convolution, batch norm in inference, ReLU
# golden 1
func conv_bn_relu(
  x: f32[1, 64, 56, 56],
  w: frozen f32[64, 64, 3, 3],
  mean: frozen f32[64],
  var: frozen f32[64],
  weight: frozen f32[64],
  bias: frozen f32[64],
) -> (y) {
  %6 = view.pad %x lo [0, 0, 1, 1] hi [0, 0, 1, 1] interior [0, 0, 0, 0] value 0.0 : f32[1, 64, 58, 58]   # conv @ model.rs:11
  %7 = view.window %6 axis 2 stride 1 dilation 1 size 3 : f32[1, 64, 56, 58, 3]   # conv @ model.rs:11
  %8 = view.window %7 axis 3 stride 1 dilation 1 size 3 : f32[1, 64, 56, 56, 3, 3]   # conv @ model.rs:11
  %9 = contract %8, %w "abcdef,gbef->agcd" acc f32 : f32[1, 64, 56, 56]   # conv @ model.rs:11
  %10 = const f32 1e-05 : f32[]   # batch_norm @ model.rs:12
  %11 = view.reshape %10 [1] : f32[1]   # batch_norm @ model.rs:12
  %12 = view.expand %11 [64] : f32[64]   # batch_norm @ model.rs:12
  %13 = add %var, %12 : f32[64]   # batch_norm @ model.rs:12
  %14 = rsqrt %13 : f32[64]   # batch_norm @ model.rs:12
  %15 = mul %14, %weight : f32[64]   # batch_norm @ model.rs:12
  %16 = mul %mean, %15 : f32[64]   # batch_norm @ model.rs:12
  %17 = sub %bias, %16 : f32[64]   # batch_norm @ model.rs:12
  %18 = view.reshape %15 [1, 64, 1, 1] : f32[1, 64, 1, 1]   # batch_norm @ model.rs:12
  %19 = view.reshape %17 [1, 64, 1, 1] : f32[1, 64, 1, 1]   # batch_norm @ model.rs:12
  %20 = view.expand %18 [1, 64, 56, 56] : f32[1, 64, 56, 56]   # batch_norm @ model.rs:12
  %21 = mul %9, %20 : f32[1, 64, 56, 56]   # batch_norm @ model.rs:12
  %22 = view.expand %19 [1, 64, 56, 56] : f32[1, 64, 56, 56]   # batch_norm @ model.rs:12
  %23 = add %21, %22 : f32[1, 64, 56, 56]   # batch_norm @ model.rs:12
  %24 = const f32 0.0 : f32[]   # relu @ model.rs:13
  %25 = view.reshape %24 [1, 1, 1, 1] : f32[1, 1, 1, 1]   # relu @ model.rs:13
  %26 = view.expand %25 [1, 64, 56, 56] : f32[1, 64, 56, 56]   # relu @ model.rs:13
  %27 = max %23, %26 : f32[1, 64, 56, 56]   # relu @ model.rs:13
  return y = %27
}
----
1 kernels
k0_conv_batch_norm_relu: Contraction (64 × 56 × 56 | 64 × 3 × 3) members %9 %13 %14 %15 %16 %17 %21 %23 %27 -> %27; read 951296 written 802816 flops 231813504
