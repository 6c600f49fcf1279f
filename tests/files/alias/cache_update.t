test alias
func f(cache: donated f32[128, 8], new: f32[1, 8], at: i64[]) {
  %w = write.set.dynamic %cache, %new, %at [0]
  %s = reduce.sum %w [1]
  return sum = %s, cache = %w
}
----
%3: in place after []
