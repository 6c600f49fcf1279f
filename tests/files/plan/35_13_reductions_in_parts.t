test plan
# row 35: reductions that are read under the conditions of a concat and a pad, over as many elements as those have
func reductions_in_parts(x: f32[n, 8]) -> (rotated, padded, stacked) {
  %max = reduce.max %x [1]   # softmax @ model.rs:11
  %max1 = view.reshape %max [n, 1]   # softmax @ model.rs:11
  %max2 = view.expand %max1 [n, 8]   # softmax @ model.rs:11
  %low = sub %x, %max2   # softmax @ model.rs:11
  %exp = exp %low   # softmax @ model.rs:11
  %sum = reduce.sum %exp [1]   # softmax @ model.rs:11
  %sum1 = view.reshape %sum [n, 1]   # softmax @ model.rs:11
  %sum2 = view.expand %sum1 [n, 8]   # softmax @ model.rs:11
  %p = div %exp, %sum2   # softmax @ model.rs:11
  %right = view.slice %p start [0, 4] len [n, 4] step [1, 1]   # rotate @ model.rs:12
  %left = view.slice %p start [0, 0] len [n, 4] step [1, 1]   # rotate @ model.rs:12
  %minus = neg %right   # rotate @ model.rs:12
  %half = concat %minus, %left [1]   # rotate @ model.rs:12
  %rotated = add %p, %half   # rotate @ model.rs:12
  %pad = view.pad %sum1 lo [0, 0] hi [0, 7] interior [0, 0] value 0.0   # pad @ model.rs:13
  %padded = mul %pad, %x   # pad @ model.rs:13
  %stacked = concat %sum1, %max1, %sum1 [1]   # stack @ model.rs:14
  return rotated = %rotated, padded = %padded, stacked = %stacked
}
----
2 kernels
k0_softmax_rotate_pad_stack: Row (n | 8) members %1 %4 %5 %6 %9 %12 %13 %14 %15 %17 %18 %20 -> %1 %15 %17 %18 %20; read 4096 written 9728 flops 34816
k1_stack: Pointwise (n × 3 | ) members %19 %21 -> %21; read 1536 written 1536 flops 640
F15 %1 f32[n] of k0_softmax_rotate_pad_stack -> k1_stack: %6 would be evaluated at more than 4 positions
F15 %18 f32[n, 1] of k0_softmax_rotate_pad_stack -> k1_stack: %6 would be evaluated at more than 4 positions
F15 %20 f32[n, 1] of k0_softmax_rotate_pad_stack -> k1_stack: %6 would be evaluated at more than 4 positions
