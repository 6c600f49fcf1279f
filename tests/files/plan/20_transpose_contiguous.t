test plan
# row 20: (x + 1) transposed and made contiguous: one transpose with a prologue
# golden 1
func transpose_contiguous(x: f32[1024, 768]) -> (y) {
  %1 = const f32 1.0 : f32[]   # add @ model.rs:11
  %2 = view.reshape %1 [1, 1] : f32[1, 1]   # add @ model.rs:11
  %3 = view.expand %2 [1024, 768] : f32[1024, 768]   # add @ model.rs:11
  %4 = add %x, %3 : f32[1024, 768]   # add @ model.rs:11
  %5 = view.permute %4 [1, 0] : f32[768, 1024]   # transpose @ model.rs:12
  %6 = materialize %5 : f32[768, 1024]   # contiguous @ model.rs:13
  return y = %6
}
----
1 kernels
k0_add_contiguous: Pointwise (768 × 1024 | ) members %4 %6 -> %6; read 3145728 written 3145728 flops 786432
