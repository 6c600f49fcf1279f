test run
# x f32[5] = 1 2 3 4 5
func f(x: f32[5]) {
  %w = view.window %x axis 0 stride 2 dilation 1 size 3
  %s = reduce.sum %w [1]
  return w = %w, s = %s
}
----
w f32[2, 3] = 1.0 2.0 3.0 3.0 4.0 5.0
s f32[2] = 6.0 12.0
