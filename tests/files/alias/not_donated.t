test alias
func f(cache: f32[128, 8], new: f32[1, 8]) {
  %w = write.set.slice %cache, %new start [3, 0] step [1, 1]
  return cache = %w
}
----
%2: functional
