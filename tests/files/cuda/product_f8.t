test cuda
# a product of 8-bit floats is the library's where both operands lie along what is summed, and stored in 16 bits
func linear(x: f8e4m3[64, 96], w: f8e5m2[128, 96]) -> (z) {
  %y = contract %x, %w "ab,cb->ac" acc f32
  %z = cast.bf16 %y
  return z = %z
}
----
k0_contract_cast_bf16
  p0: x f8e4m3[6144] Read
  p1: w f8e5m2[12288] Read
  p2: %3 bf16[8192] Write
product 64 x 128 over 96 in f32: bf16 p2[128, 1] = f8e4m3 p0[96, 1] * f8e5m2 p1[1, 96]
