test parse
func f(x: float32[4]) {
  return y = %x
}
----
error: test:1:11: unknown dtype 'float32'
