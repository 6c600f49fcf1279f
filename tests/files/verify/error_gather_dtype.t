test verify
func f(x: f32[4], i: i32[4]) {
  %a = gather %x, %i [0]
  return y = %a
}
----
error: test:2:8: gather(f32[4], i32[4]): indices must be i64, got i32
