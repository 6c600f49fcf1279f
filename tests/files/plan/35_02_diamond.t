test plan
# row 35: symbolic batch and sequence; as row 2: exp is computed once for two readers
# golden 1
func diamond(x: f32[s, 1024]) -> (plus, times) {
  %1 = exp %x : f32[s, 1024]   # exp @ model.rs:11
  %2 = const f32 1.0 : f32[]   # add @ model.rs:12
  %3 = view.reshape %2 [1, 1] : f32[1, 1]   # add @ model.rs:12
  %4 = view.expand %3 [s, 1024] : f32[s, 1024]   # add @ model.rs:12
  %5 = add %1, %4 : f32[s, 1024]   # add @ model.rs:12
  %6 = const f32 2.0 : f32[]   # mul @ model.rs:13
  %7 = view.reshape %6 [1, 1] : f32[1, 1]   # mul @ model.rs:13
  %8 = view.expand %7 [s, 1024] : f32[s, 1024]   # mul @ model.rs:13
  %9 = mul %1, %8 : f32[s, 1024]   # mul @ model.rs:13
  return plus = %5, times = %9
}
----
1 kernels
k0_exp_add_mul: Pointwise (s × 1024 | ) members %1 %5 %9 -> %5 %9; read 524288 written 1048576 flops 1048576
