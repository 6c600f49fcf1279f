test plan
# row 22: sums down and along a matrix that is read once
# golden 1
func both_sums(x: f32[4096, 4096]) -> (columns, rows) {
  %1 = reduce.sum %x [0] : f32[4096]   # sum @ model.rs:11
  %2 = reduce.sum %x [1] : f32[4096]   # sum @ model.rs:12
  return columns = %1, rows = %2
}
----
1 kernels
k0_sum: Mixed (4096 | 4096) members %1 %2 -> %1 %2; read 67108864 written 32768 flops 33554432
