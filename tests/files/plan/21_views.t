test plan
# row 21: transpose, reshape, slice and expand as outputs
# golden 0
func views(x: f32[512, 768], row: f32[1, 768]) -> (transposed, reshaped, sliced, expanded) {
  %2 = view.permute %x [1, 0] : f32[768, 512]   # transpose @ model.rs:11
  %3 = view.reshape %x [512, 12, 64] : f32[512, 12, 64]   # reshape @ model.rs:12
  %4 = view.slice %x start [1, 0] len [256, 384] step [2, 1] : f32[256, 384]   # slice @ model.rs:13
  %5 = view.expand %row [512, 768] : f32[512, 768]   # expand @ model.rs:14
  return transposed = %2, reshaped = %3, sliced = %4, expanded = %5
}
----
0 kernels
