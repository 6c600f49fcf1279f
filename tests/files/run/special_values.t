test run
# x f32[6] = nan inf -inf -0.0 1e-45 2.0
func f(x: f32[6]) {
  %a = max %x, %x
  %s = sign %x
  %r = sqrt %x
  %n = isnan %x
  return max = %a, sign = %s, sqrt = %r, nan = %n
}
----
max f32[6] = nan inf -inf -0.0 1e-45 2.0
sign f32[6] = nan 1.0 -1.0 0.0 1.0 1.0
sqrt f32[6] = nan inf nan -0.0 3.743392e-23 1.4142135
nan bool[6] = true false false false false false
