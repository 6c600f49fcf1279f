test cuda
# numerics wide
# the sums of the gradient are a second result of the library's call
func gelu_backward(dy: bf16[16, 16], w: frozen bf16[1024, 16], z: bf16[16, 1024]) -> (dz, db) {
  %p = contract %dy, %w "ab,cb->ac" acc f32
  %q = cast.f32 %p
  %u = cast.f32 %z
  %u2 = mul %u, %u
  %u3 = mul %u2, %u
  %c = const f32 0.044715
  %c1 = view.reshape %c [1, 1]
  %c2 = view.expand %c1 [16, 1024]
  %bent = mul %u3, %c2
  %in = add %u, %bent
  %d = const f32 0.7978846
  %d1 = view.reshape %d [1, 1]
  %d2 = view.expand %d1 [16, 1024]
  %scaled = mul %in, %d2
  %t = tanh %scaled
  %one = const f32 1.0
  %one1 = view.reshape %one [1, 1]
  %one2 = view.expand %one1 [16, 1024]
  %right = add %t, %one2
  %h = const f32 0.5
  %h1 = view.reshape %h [1, 1]
  %h2 = view.expand %h1 [16, 1024]
  %left = mul %u, %h2
  %first = mul %right, %h2
  %tt = mul %t, %t
  %dt = sub %one2, %tt
  %k = const f32 0.134145
  %k1 = view.reshape %k [1, 1]
  %k2 = view.expand %k1 [16, 1024]
  %bent2 = mul %u2, %k2
  %slope = add %bent2, %one2
  %di = mul %slope, %d2
  %l1 = mul %left, %dt
  %second = mul %l1, %di
  %dg = add %first, %second
  %dzf = mul %q, %dg
  %dz = cast.bf16 %dzf
  %db = reduce.sum %dz [0]
  return dz = %dz, db = %db
}
----
k0_contract_cast_f32_mul_add_and_4
  p0: dy bf16[256] Read
  p1: w bf16[16384] Read
  p2: z bf16[16384] Read
  p3: %39 bf16[16384] Write
  p4: %40 bf16[1024] Write
product 16 x 1024 over 16 in f32: bf16 p3[1024, 1] = bf16 p0[16, 1] * bf16 p1[1, 16], GeluTanhBackward beside p2[0..], p4[0..] its sums over columns
