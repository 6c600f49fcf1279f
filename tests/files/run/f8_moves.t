test run
# x f8e4m3[2, 3] = 1.0 1.125 -448.0 0.001953125 nan -0.0
func f(x: f8e4m3[2, 3]) {
  %t = view.permute %x [1, 0]
  %p = view.pad %t lo [0, 1] hi [0, 0] interior [0, 0] value 2.5
  %c = concat %x, %x [0]
  return p = %p, c = %c
}
----
p f8e4m3[3, 3] = 2.5 1.0 0.001953125 2.5 1.125 nan 2.5 -448.0 -0.0
c f8e4m3[4, 3] = 1.0 1.125 -448.0 0.001953125 nan -0.0 1.0 1.125 -448.0 0.001953125 nan -0.0
