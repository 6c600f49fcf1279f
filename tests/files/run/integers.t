test run
# a i8[4] = -128 127 7 -7
# b i8[4] = -1 1 0 2
func f(a: i8[4], b: i8[4]) {
  %s = add %a, %b
  %d = div %a, %b
  %f = floordiv %a, %b
  %m = mod %a, %b
  %n = abs %a
  return sum = %s, div = %d, floordiv = %f, mod = %m, abs = %n
}
----
sum i8[4] = 127 -128 7 -5
div i8[4] = -128 127 0 -3
floordiv i8[4] = -128 127 0 -4
mod i8[4] = 0 0 0 1
abs i8[4] = -128 127 7 7
