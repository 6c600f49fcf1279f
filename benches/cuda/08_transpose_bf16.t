# row transpose bf16 [8192, 8192]
# target 0.93
func transpose_bf16(x: bf16[8192, 8192]) -> (y) {
  %1 = view.permute %0 [1, 0] : bf16[8192, 8192]   # transpose
  %2 = materialize %1 : bf16[8192, 8192]   # contiguous
  return y = %2
}
