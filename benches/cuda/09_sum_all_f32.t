# row sum of all f32 [16384, 16384]
# ruler read
# target 0.95
func sum_all_f32(x: f32[16384, 16384]) -> (y) {
  %1 = reduce.sum %0 [0, 1] : f32[]   # sum
  return y = %1
}
