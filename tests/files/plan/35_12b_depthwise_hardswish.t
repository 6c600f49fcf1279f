test plan
# row 35: symbolic batch and sequence; as row 12: depthwise convolution and hardswish
# golden 1
func depthwise_hardswish(x: f32[b, 96, 56, 56], w: frozen f32[96, 1, 3, 3]) -> (y) {
  %2 = view.pad %x lo [0, 0, 1, 1] hi [0, 0, 1, 1] interior [0, 0, 0, 0] value 0.0 : f32[b, 96, 58, 58]   # conv @ model.rs:11
  %3 = view.window %2 axis 2 stride 1 dilation 1 size 3 : f32[b, 96, 56, 58, 3]   # conv @ model.rs:11
  %4 = view.window %3 axis 3 stride 1 dilation 1 size 3 : f32[b, 96, 56, 56, 3, 3]   # conv @ model.rs:11
  %5 = view.reshape %w [96, 3, 3] : f32[96, 3, 3]   # conv @ model.rs:11
  %6 = contract %4, %5 "abcdef,bef->abcd" acc f32 : f32[b, 96, 56, 56]   # conv @ model.rs:11
  %7 = const f32 3.0 : f32[]   # hardswish @ model.rs:12
  %8 = view.reshape %7 [1, 1, 1, 1] : f32[1, 1, 1, 1]   # hardswish @ model.rs:12
  %9 = view.expand %8 [b, 96, 56, 56] : f32[b, 96, 56, 56]   # hardswish @ model.rs:12
  %10 = add %6, %9 : f32[b, 96, 56, 56]   # hardswish @ model.rs:12
  %11 = const f32 0.0 : f32[]   # hardswish @ model.rs:12
  %12 = view.reshape %11 [1, 1, 1, 1] : f32[1, 1, 1, 1]   # hardswish @ model.rs:12
  %13 = view.expand %12 [b, 96, 56, 56] : f32[b, 96, 56, 56]   # hardswish @ model.rs:12
  %14 = max %10, %13 : f32[b, 96, 56, 56]   # hardswish @ model.rs:12
  %15 = const f32 6.0 : f32[]   # hardswish @ model.rs:12
  %16 = view.reshape %15 [1, 1, 1, 1] : f32[1, 1, 1, 1]   # hardswish @ model.rs:12
  %17 = view.expand %16 [b, 96, 56, 56] : f32[b, 96, 56, 56]   # hardswish @ model.rs:12
  %18 = min %14, %17 : f32[b, 96, 56, 56]   # hardswish @ model.rs:12
  %19 = mul %6, %18 : f32[b, 96, 56, 56]   # hardswish @ model.rs:12
  %20 = div %19, %17 : f32[b, 96, 56, 56]   # hardswish @ model.rs:12
  return y = %20
}
----
1 kernels
k0_conv_hardswish: Row (b × 96 × 56 × 56 | 3 × 3) members %6 %10 %14 %18 %19 %20 -> %20; read 154144128 written 154140672 flops 924844032
