# row sum of columns bf16 [16384, 16384]
# ruler read
# target 0.95
func sum_columns_bf16(x: bf16[16384, 16384]) -> (y) {
  %1 = reduce.sum %0 [0] : bf16[16384]   # sum
  return y = %1
}
