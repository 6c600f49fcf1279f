test plan
# row 29: flip(x) + x written back into x: donation is refused, the reads are at other positions
# golden 1
func flip_into_itself(x: donated f32[512, 1024]) -> (x) {
  %1 = view.flip %x [1] : f32[512, 1024]   # flip @ model.rs:11
  %2 = add %1, %x : f32[512, 1024]   # add @ model.rs:12
  %3 = write.set.slice %x, %2 start [0, 0] step [1, 1] : f32[512, 1024]   # copy_ @ model.rs:13
  return x = %3
}
----
1 kernels
k0_add: Pointwise (512 × 1024 | ) members %2 -> %2; read 2097152 written 2097152 flops 524288
