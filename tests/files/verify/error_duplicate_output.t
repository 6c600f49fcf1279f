test verify
func f(x: f32[4]) {
  return y = %x, y = %x
}
----
error: test:2:18: output "y" is declared twice
