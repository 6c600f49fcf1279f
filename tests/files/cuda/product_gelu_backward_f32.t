test cuda
# numerics wide
# in f32: what the library refuses of it runs as a product and one kernel
func gelu_backward(dy: f32[512, 768], w: frozen f32[1024, 768], z: f32[512, 1024]) -> (dz, db) {
  %p = contract %dy, %w "ab,cb->ac" acc f32
  %u2 = mul %z, %z
  %u3 = mul %u2, %z
  %c = const f32 0.044715
  %c1 = view.reshape %c [1, 1]
  %c2 = view.expand %c1 [512, 1024]
  %bent = mul %u3, %c2
  %in = add %z, %bent
  %d = const f32 0.7978846
  %d1 = view.reshape %d [1, 1]
  %d2 = view.expand %d1 [512, 1024]
  %scaled = mul %in, %d2
  %t = tanh %scaled
  %one = const f32 1.0
  %one1 = view.reshape %one [1, 1]
  %one2 = view.expand %one1 [512, 1024]
  %right = add %t, %one2
  %h = const f32 0.5
  %h1 = view.reshape %h [1, 1]
  %h2 = view.expand %h1 [512, 1024]
  %left = mul %z, %h2
  %first = mul %right, %h2
  %tt = mul %t, %t
  %dt = sub %one2, %tt
  %k = const f32 0.134145
  %k1 = view.reshape %k [1, 1]
  %k2 = view.expand %k1 [512, 1024]
  %bent2 = mul %u2, %k2
  %slope = add %bent2, %one2
  %di = mul %slope, %d2
  %l1 = mul %left, %dt
  %second = mul %l1, %di
  %dg = add %first, %second
  %dz = mul %p, %dg
  %db = reduce.sum %dz [0]
  return dz = %dz, db = %db
}
----
k0_contract_mul_add_tanh_and_2
  p0: dy f32[393216] Read
  p1: w f32[786432] Read
  p2: z f32[524288] Read
  p3: %36 f32[524288] Write
  p4: %37 f32[1024] Write
product 512 x 1024 over 768 in f32: f32 p3[1024, 1] = f32 p0[768, 1] * f32 p1[1, 768], GeluTanhBackward beside p2[0..], p4[0..] its sums over columns
