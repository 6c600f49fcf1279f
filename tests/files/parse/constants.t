test parse
func f() -> (a, b, c) {
  %a = const f32 -0.0
  %b = const i64 -9223372036854775808
  %c = const bf16 nan
  return a = %a, b = %b, c = %c
}
----
func f() -> (a, b, c) {
  %0 = const f32 -0.0 : f32[]
  %1 = const i64 -9223372036854775808 : i64[]
  %2 = const bf16 nan : bf16[]
  return a = %0, b = %1, c = %2
}
