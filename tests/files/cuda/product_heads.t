test cuda
# heads side by side: probabilities times values, and the projection of all heads, each one product of the library
func attention_tail(p: f32[2, 12, 64, 64], v: f32[2, 12, 64, 64], w: frozen f32[768, 768]) -> (y) {
  %o = contract %p, %v "abcd,abde->abce" acc f32
  %t = view.permute %o [0, 2, 1, 3]
  %r = view.reshape %t [2, 64, 768]
  %y = contract %r, %w "abc,cd->abd" acc f32
  return y = %y
}
----
k0_contract
  p0: p f32[98304] Read
  p1: v f32[98304] Read
  p2: %3 f32[98304] Write
product 2 x 12 x 64 x 64 over 64 in f32: f32 p2[49152, 64, 768, 1] = f32 p0[49152, 4096, 64, 1] * f32 p1[49152, 4096, 64, 1]

k1_contract
  p0: %3 f32[98304] Read
  p1: w f32[589824] Read
  p2: %5 f32[98304] Write
product 128 x 768 over 768 in f32: f32 p2[768, 1] = f32 p0[768, 1] * f32 p1[768, 1]
