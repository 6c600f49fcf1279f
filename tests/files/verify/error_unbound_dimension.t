test verify
func f(x: f32[1]) {
  %a = view.expand %x [n]
  return y = %a
}
----
error: test:1:1: func f: %1 = view.expand: dimension n is not bound by any input's shape
