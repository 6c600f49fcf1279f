test plan
# row 16: dh stored in full, db = Σ dh over m
# golden 1
func gelu_backward(h: f32[512, 3072], dy: f32[512, 3072]) -> (dh, db) {
  %2 = const f32 0.7071067811865476 : f32[]   # gelu_backward @ model.rs:11
  %3 = view.reshape %2 [1, 1] : f32[1, 1]   # gelu_backward @ model.rs:11
  %4 = view.expand %3 [512, 3072] : f32[512, 3072]   # gelu_backward @ model.rs:11
  %5 = mul %h, %4 : f32[512, 3072]   # gelu_backward @ model.rs:11
  %6 = erf %5 : f32[512, 3072]   # gelu_backward @ model.rs:11
  %7 = const f32 1.0 : f32[]   # gelu_backward @ model.rs:11
  %8 = view.reshape %7 [1, 1] : f32[1, 1]   # gelu_backward @ model.rs:11
  %9 = view.expand %8 [512, 3072] : f32[512, 3072]   # gelu_backward @ model.rs:11
  %10 = add %6, %9 : f32[512, 3072]   # gelu_backward @ model.rs:11
  %11 = const f32 0.5 : f32[]   # gelu_backward @ model.rs:11
  %12 = view.reshape %11 [1, 1] : f32[1, 1]   # gelu_backward @ model.rs:11
  %13 = view.expand %12 [512, 3072] : f32[512, 3072]   # gelu_backward @ model.rs:11
  %14 = mul %10, %13 : f32[512, 3072]   # gelu_backward @ model.rs:11
  %15 = mul %h, %h : f32[512, 3072]   # gelu_backward @ model.rs:11
  %16 = const f32 -0.5 : f32[]   # gelu_backward @ model.rs:11
  %17 = view.reshape %16 [1, 1] : f32[1, 1]   # gelu_backward @ model.rs:11
  %18 = view.expand %17 [512, 3072] : f32[512, 3072]   # gelu_backward @ model.rs:11
  %19 = mul %15, %18 : f32[512, 3072]   # gelu_backward @ model.rs:11
  %20 = exp %19 : f32[512, 3072]   # gelu_backward @ model.rs:11
  %21 = const f32 0.3989422804014327 : f32[]   # gelu_backward @ model.rs:11
  %22 = view.reshape %21 [1, 1] : f32[1, 1]   # gelu_backward @ model.rs:11
  %23 = view.expand %22 [512, 3072] : f32[512, 3072]   # gelu_backward @ model.rs:11
  %24 = mul %20, %23 : f32[512, 3072]   # gelu_backward @ model.rs:11
  %25 = mul %h, %24 : f32[512, 3072]   # gelu_backward @ model.rs:11
  %26 = add %14, %25 : f32[512, 3072]   # gelu_backward @ model.rs:11
  %27 = mul %dy, %26 : f32[512, 3072]   # gelu_backward @ model.rs:11
  %28 = reduce.sum %27 [0] : f32[3072]   # bias_gradient @ model.rs:12
  return dh = %27, db = %28
}
----
1 kernels
k0_gelu_backward_bias_gradient: Row (3072 | 512) members %5 %6 %10 %14 %15 %19 %20 %24 %25 %26 %27 %28 -> %27 %28; read 12582912 written 6303744 flops 37748736
