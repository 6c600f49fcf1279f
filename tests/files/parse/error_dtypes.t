test parse
func f(x: f32[4], y: f16[4]) {
  %a = add %x, %y
  return y = %a
}
----
error: test:2:8: add(f32[4], f16[4]): add needs operands of one dtype, got f32, f16
