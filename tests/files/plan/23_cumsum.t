test plan
# row 23: cumsum(x·2) + 1
# golden 1
func cumsum(x: f32[512, 1024]) -> (y) {
  %1 = const f32 2.0 : f32[]   # mul @ model.rs:11
  %2 = view.reshape %1 [1, 1] : f32[1, 1]   # mul @ model.rs:11
  %3 = view.expand %2 [512, 1024] : f32[512, 1024]   # mul @ model.rs:11
  %4 = mul %x, %3 : f32[512, 1024]   # mul @ model.rs:11
  %5 = scan.sum %4 [1] : f32[512, 1024]   # cumsum @ model.rs:12
  %6 = const f32 1.0 : f32[]   # add @ model.rs:13
  %7 = view.reshape %6 [1, 1] : f32[1, 1]   # add @ model.rs:13
  %8 = view.expand %7 [512, 1024] : f32[512, 1024]   # add @ model.rs:13
  %9 = add %5, %8 : f32[512, 1024]   # add @ model.rs:13
  return y = %9
}
----
1 kernels
k0_mul_cumsum_add: Scan (512 | 1024) members %4 %5 %9 -> %9; read 2097152 written 2097152 flops 3145728
