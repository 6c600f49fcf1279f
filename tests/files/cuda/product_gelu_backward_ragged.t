test cuda
# numerics wide
# rows that are no multiples of eight elements apart: generated code does what follows
func gelu_backward(dy: bf16[512, 768], w: frozen bf16[1001, 768], z: bf16[512, 1001]) -> (dz) {
  %p = contract %dy, %w "ab,cb->ac" acc f32
  %q = cast.f32 %p
  %u = cast.f32 %z
  %u2 = mul %u, %u
  %u3 = mul %u2, %u
  %c = const f32 0.044715
  %c1 = view.reshape %c [1, 1]
  %c2 = view.expand %c1 [512, 1001]
  %bent = mul %u3, %c2
  %in = add %u, %bent
  %d = const f32 0.7978846
  %d1 = view.reshape %d [1, 1]
  %d2 = view.expand %d1 [512, 1001]
  %scaled = mul %in, %d2
  %t = tanh %scaled
  %one = const f32 1.0
  %one1 = view.reshape %one [1, 1]
  %one2 = view.expand %one1 [512, 1001]
  %right = add %t, %one2
  %h = const f32 0.5
  %h1 = view.reshape %h [1, 1]
  %h2 = view.expand %h1 [512, 1001]
  %left = mul %u, %h2
  %first = mul %right, %h2
  %tt = mul %t, %t
  %dt = sub %one2, %tt
  %k = const f32 0.134145
  %k1 = view.reshape %k [1, 1]
  %k2 = view.expand %k1 [512, 1001]
  %bent2 = mul %u2, %k2
  %slope = add %bent2, %one2
  %di = mul %slope, %d2
  %l1 = mul %left, %dt
  %second = mul %l1, %di
  %dg = add %first, %second
  %dzf = mul %q, %dg
  %dz = cast.bf16 %dzf
  return dz = %dz
}
----
k0_contract_cast_f32_mul_add_and_3
  p0: dy bf16[393216] Read
  p1: w bf16[768768] Read
  p2: z bf16[512512] Read
  p3: %39 bf16[512512] Write
  p4: product4 bf16[512512] ReadWrite
struct k_contract_cast_f32_mul_add_and_3_words { u64 w[4]; };
extern "C" __global__ void __launch_bounds__(256) k_contract_cast_f32_mul_add_and_3(const __grid_constant__ k_contract_cast_f32_mul_add_and_3_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[3]; const u32 block = blockIdx.x;
bf16* p4 = (bf16*)w[0];
bf16* p2 = (bf16*)w[1];
bf16* p3 = (bf16*)w[2];
constexpr int V = 8;
const int x = (int)threadIdx.x % 256, g = (int)threadIdx.x / 256 % 1, r = (int)threadIdx.x / 256;
int q = (int)block * 256 + x;
if (q >= 64064) return;
int a1 = q * V;
Vec<bf16, V> r2;
r2 = load<bf16, V>(p4, (a1));
float v2[V]; unpack(v2, r2);
float v3[V]; LANES(j) v3[j] = (float)v2[j];
Vec<bf16, V> r4;
r4 = load<bf16, V>(p2, (a1));
float v4[V]; unpack(v4, r4);
float v5[V]; LANES(j) v5[j] = (float)v4[j];
float v6[V]; LANES(j) v6[j] = (v5[j] * v5[j]);
float v7[V]; LANES(j) v7[j] = (v5[j] * v6[j]);
float v9[V]; LANES(j) v9[j] = (v7[j] * 0.044715f);
float v10[V]; LANES(j) v10[j] = (v5[j] + v9[j]);
float v12[V]; LANES(j) v12[j] = (v10[j] * 0.7978846f);
float v13[V]; LANES(j) v13[j] = s_tanh(v12[j]);
float v15[V]; LANES(j) v15[j] = (v13[j] + 1.0f);
float v17[V]; LANES(j) v17[j] = (v15[j] * 0.5f);
float v19[V]; LANES(j) v19[j] = (v6[j] * 0.134145f);
float v20[V]; LANES(j) v20[j] = (v19[j] + 1.0f);
float v21[V]; LANES(j) v21[j] = (v20[j] * 0.7978846f);
float v22[V]; LANES(j) v22[j] = (v5[j] * 0.5f);
float v23[V]; LANES(j) v23[j] = (v13[j] * v13[j]);
float v24[V]; LANES(j) v24[j] = (1.0f - v23[j]);
float v25[V]; LANES(j) v25[j] = (v22[j] * v24[j]);
float v26[V]; LANES(j) v26[j] = (v21[j] * v25[j]);
float v27[V]; LANES(j) v27[j] = (v17[j] + v26[j]);
float v28[V]; LANES(j) v28[j] = (v3[j] * v27[j]);
float v29[V]; LANES(j) v29[j] = round_bf16((float)v28[j]);
store<bf16, V>(p3, (a1), packed<bf16>(v29));
}
product 512 x 1001 over 768 in f32: bf16 p4[1001, 1] = bf16 p0[768, 1] * bf16 p1[1, 768]
launch k_contract_cast_f32_mul_add_and_3 <251 x 256> args [4, 2, 3] numbers []
