test verify
func f(x: f32[4]) {
  %a = view.slice %x start [2] len [3] step [1]
  return y = %a
}
----
error: test:2:8: view.slice(f32[4]): the range from 2 with 3 elements and step 1 must lie in axis 0 of extent 4: 4 is less than 5
