test parse
func f(x: f32[4], y: f32[5]) {
  %a = add %x, %y
  return y = %a
}
----
error: test:2:8: add(f32[4], f32[5]): shapes [4] and [5] differ: 4 is not 5
