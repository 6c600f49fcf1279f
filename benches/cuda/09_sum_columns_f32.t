# row sum of columns f32 [16384, 16384]
# ruler read
# target 0.95
func sum_columns_f32(x: f32[16384, 16384]) -> (y) {
  %1 = reduce.sum %0 [0] : f32[16384]   # sum
  return y = %1
}
