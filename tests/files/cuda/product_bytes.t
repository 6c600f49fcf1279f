test cuda
# bytes are products of the library where their sizes allow it
func bytes(x: i8[64, 96], w: i8[128, 96]) -> (y) {
  %y = contract %x, %w "ab,cb->ac" acc i32
  return y = %y
}
----
k0_contract
  p0: x i8[6144] Read
  p1: w i8[12288] Read
  p2: %2 i32[8192] Write
product 64 x 128 over 96 in i32: i32 p2[128, 1] = i8 p0[96, 1] * i8 p1[1, 96]
