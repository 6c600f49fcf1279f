test parse
func f(x: f32[2, 10]) {
  %w = view.window %x axis 1 stride 2 dilation 2 size 3
  %m = reduce.max %w [2]
  return y = %m
}
----
func f(x: f32[2, 10]) -> (y) {
  %1 = view.window %0 axis 1 stride 2 dilation 2 size 3 : f32[2, 3, 3]
  %2 = reduce.max %1 [2] : f32[2, 3]
  return y = %2
}
