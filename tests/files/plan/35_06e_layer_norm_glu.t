test plan
# row 35: symbolic batch and sequence; as row 6: a·σ(b) on the halves of a layer norm
# golden 1
func layer_norm_glu(x: f32[s, 1536], w: frozen f32[1536], b: frozen f32[1536]) -> (y) {
  %3 = reduce.sum %x [1] : f32[s]   # layer_norm @ model.rs:11
  %4 = view.reshape %3 [s, 1] : f32[s, 1]   # layer_norm @ model.rs:11
  %5 = const f32 1536.0 : f32[]   # layer_norm @ model.rs:11
  %6 = view.reshape %5 [1, 1] : f32[1, 1]   # layer_norm @ model.rs:11
  %7 = view.expand %6 [s, 1] : f32[s, 1]   # layer_norm @ model.rs:11
  %8 = div %4, %7 : f32[s, 1]   # layer_norm @ model.rs:11
  %9 = view.expand %8 [s, 1536] : f32[s, 1536]   # layer_norm @ model.rs:11
  %10 = sub %x, %9 : f32[s, 1536]   # layer_norm @ model.rs:11
  %11 = mul %10, %10 : f32[s, 1536]   # layer_norm @ model.rs:11
  %12 = reduce.sum %11 [1] : f32[s]   # layer_norm @ model.rs:11
  %13 = view.reshape %12 [s, 1] : f32[s, 1]   # layer_norm @ model.rs:11
  %14 = const f32 0.0 : f32[]   # layer_norm @ model.rs:11
  %15 = sub %5, %14 : f32[]   # layer_norm @ model.rs:11
  %16 = max %15, %14 : f32[]   # layer_norm @ model.rs:11
  %17 = view.reshape %16 [1, 1] : f32[1, 1]   # layer_norm @ model.rs:11
  %18 = view.expand %17 [s, 1] : f32[s, 1]   # layer_norm @ model.rs:11
  %19 = div %13, %18 : f32[s, 1]   # layer_norm @ model.rs:11
  %20 = const f32 1e-05 : f32[]   # layer_norm @ model.rs:11
  %21 = view.reshape %20 [1, 1] : f32[1, 1]   # layer_norm @ model.rs:11
  %22 = view.expand %21 [s, 1] : f32[s, 1]   # layer_norm @ model.rs:11
  %23 = add %19, %22 : f32[s, 1]   # layer_norm @ model.rs:11
  %24 = rsqrt %23 : f32[s, 1]   # layer_norm @ model.rs:11
  %25 = view.expand %24 [s, 1536] : f32[s, 1536]   # layer_norm @ model.rs:11
  %26 = mul %10, %25 : f32[s, 1536]   # layer_norm @ model.rs:11
  %27 = view.reshape %w [1, 1536] : f32[1, 1536]   # layer_norm @ model.rs:11
  %28 = view.expand %27 [s, 1536] : f32[s, 1536]   # layer_norm @ model.rs:11
  %29 = mul %26, %28 : f32[s, 1536]   # layer_norm @ model.rs:11
  %30 = view.reshape %b [1, 1536] : f32[1, 1536]   # layer_norm @ model.rs:11
  %31 = view.expand %30 [s, 1536] : f32[s, 1536]   # layer_norm @ model.rs:11
  %32 = add %29, %31 : f32[s, 1536]   # layer_norm @ model.rs:11
  %33 = view.slice %32 start [0, 0] len [s, 768] step [1, 1] : f32[s, 768]   # split @ model.rs:12
  %34 = view.slice %32 start [0, 768] len [s, 768] step [1, 1] : f32[s, 768]   # split @ model.rs:12
  %35 = sigmoid %34 : f32[s, 768]   # sigmoid @ model.rs:13
  %36 = mul %33, %35 : f32[s, 768]   # mul @ model.rs:14
  return y = %36
}
----
1 kernels
k0_layer_norm_sigmoid_mul: Row (s | 1536 × 768) members %3 %8 %10 %11 %12 %14 %18 %19 %21 %24 %27 %30 %31 -> %31; read 798720 written 393216 flops 2261888
