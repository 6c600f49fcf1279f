# row add+relu f16 [8192, 8192]
# target 0.98
func add_relu(x: f16[8192, 8192], y: f16[8192, 8192]) -> (z) {
  %2 = add %0, %1 : f16[8192, 8192]   # add
  %3 = const f16 0.0 : f16[]   # relu
  %4 = view.reshape %3 [1, 1] : f16[1, 1]   # relu
  %5 = view.expand %4 [8192, 8192] : f16[8192, 8192]   # relu
  %6 = max %2, %5 : f16[8192, 8192]   # relu
  return z = %6
}
