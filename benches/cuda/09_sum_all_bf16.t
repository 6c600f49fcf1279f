# row sum of all bf16 [16384, 16384]
# ruler read
# target 0.95
func sum_all_bf16(x: bf16[16384, 16384]) -> (y) {
  %1 = reduce.sum %0 [0, 1] : bf16[]   # sum
  return y = %1
}
