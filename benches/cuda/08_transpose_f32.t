# row transpose f32 [8192, 8192]
# target 0.95
func transpose_f32(x: f32[8192, 8192]) -> (y) {
  %1 = view.permute %0 [1, 0] : f32[8192, 8192]   # transpose
  %2 = materialize %1 : f32[8192, 8192]   # contiguous
  return y = %2
}
