test plan
# row 6: RMS norm
# golden 1
func rms_norm(x: f32[512, 768], w: frozen f32[768]) -> (y) {
  %2 = mul %x, %x : f32[512, 768]   # rms_norm @ model.rs:11
  %3 = reduce.sum %2 [1] : f32[512]   # rms_norm @ model.rs:11
  %4 = view.reshape %3 [512, 1] : f32[512, 1]   # rms_norm @ model.rs:11
  %5 = const f32 768.0 : f32[]   # rms_norm @ model.rs:11
  %6 = view.reshape %5 [1, 1] : f32[1, 1]   # rms_norm @ model.rs:11
  %7 = view.expand %6 [512, 1] : f32[512, 1]   # rms_norm @ model.rs:11
  %8 = div %4, %7 : f32[512, 1]   # rms_norm @ model.rs:11
  %9 = const f32 1e-06 : f32[]   # rms_norm @ model.rs:11
  %10 = view.reshape %9 [1, 1] : f32[1, 1]   # rms_norm @ model.rs:11
  %11 = view.expand %10 [512, 1] : f32[512, 1]   # rms_norm @ model.rs:11
  %12 = add %8, %11 : f32[512, 1]   # rms_norm @ model.rs:11
  %13 = rsqrt %12 : f32[512, 1]   # rms_norm @ model.rs:11
  %14 = view.expand %13 [512, 768] : f32[512, 768]   # rms_norm @ model.rs:11
  %15 = mul %x, %14 : f32[512, 768]   # rms_norm @ model.rs:11
  %16 = view.reshape %w [1, 768] : f32[1, 768]   # rms_norm @ model.rs:11
  %17 = view.expand %16 [512, 768] : f32[512, 768]   # rms_norm @ model.rs:11
  %18 = mul %15, %17 : f32[512, 768]   # rms_norm @ model.rs:11
  return y = %18
}
----
1 kernels
k0_rms_norm: Row (512 | 768) members %2 %3 %8 %12 %13 %15 %18 -> %18; read 1575936 written 1572864 flops 1575424
