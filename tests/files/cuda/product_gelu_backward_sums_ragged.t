test cuda
# numerics wide
# what the library cannot address: a product and one kernel with its sums
func gelu_backward(dy: bf16[16, 16], w: frozen bf16[1001, 16], z: bf16[16, 1001]) -> (dz, db) {
  %p = contract %dy, %w "ab,cb->ac" acc f32
  %q = cast.f32 %p
  %u = cast.f32 %z
  %u2 = mul %u, %u
  %u3 = mul %u2, %u
  %c = const f32 0.044715
  %c1 = view.reshape %c [1, 1]
  %c2 = view.expand %c1 [16, 1001]
  %bent = mul %u3, %c2
  %in = add %u, %bent
  %d = const f32 0.7978846
  %d1 = view.reshape %d [1, 1]
  %d2 = view.expand %d1 [16, 1001]
  %scaled = mul %in, %d2
  %t = tanh %scaled
  %one = const f32 1.0
  %one1 = view.reshape %one [1, 1]
  %one2 = view.expand %one1 [16, 1001]
  %right = add %t, %one2
  %h = const f32 0.5
  %h1 = view.reshape %h [1, 1]
  %h2 = view.expand %h1 [16, 1001]
  %left = mul %u, %h2
  %first = mul %right, %h2
  %tt = mul %t, %t
  %dt = sub %one2, %tt
  %k = const f32 0.134145
  %k1 = view.reshape %k [1, 1]
  %k2 = view.expand %k1 [16, 1001]
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
  p1: w bf16[16016] Read
  p2: z bf16[16016] Read
  p3: %39 bf16[16016] Write
  p4: %40 bf16[1001] Write
  p5: product5 bf16[16016] ReadWrite
  p6: partial6 f32[1001] ReadWrite
struct k_contract_cast_f32_mul_add_and_4_words { u64 w[5]; };
extern "C" __global__ void __launch_bounds__(256) k_contract_cast_f32_mul_add_and_4(const __grid_constant__ k_contract_cast_f32_mul_add_and_4_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[4]; const u32 block = blockIdx.x;
bf16* p5 = (bf16*)w[0];
bf16* p2 = (bf16*)w[1];
bf16* p3 = (bf16*)w[2];
float* p6 = (float*)w[3];
constexpr int V = 1;
union alignas(16) Scratch { char one[16]; char s0[sizeof(Sum<float>) * 256]; };
__shared__ Scratch scratch[1];
const int x = (int)threadIdx.x % 32, g = (int)threadIdx.x / 32 % 1, r = (int)threadIdx.x / 32;
int a3 = (u32)block / (u32)32;
int q = (int)((u32)block % (u32)32) * 32 + x;
const bool inside = q < 1001; if (!inside) q = 0;
int a0 = q;
Sum<float> y30;
y30 = Sum<float>::none();
const int low = a3 * 16, high = least_of<int>(low + 16, 16);
const int steps = (high - low) * 1;
int turn = 0;
_Pragma("unroll 4") for (int step = 0; step < steps; step += 8) {
int now = step + r; const bool live = now < steps; if (!live) now = 0;
int a1 = (low + now / 1);
Vec<bf16, 1> r2;
r2 = load<bf16, 1>(p5, (a0 + a1 * 1001));
float v2 = up(r2.x[0]);
float v3 = (float)v2;
Vec<bf16, 1> r4;
r4 = load<bf16, 1>(p2, (a0 + a1 * 1001));
float v4 = up(r4.x[0]);
float v5 = (float)v4;
float v6 = (v5 * v5);
float v7 = (v5 * v6);
float v9 = (v7 * 0.044715f);
float v10 = (v5 + v9);
float v12 = (v10 * 0.7978846f);
float v13 = s_tanh(v12);
float v15 = (v13 + 1.0f);
float v17 = (v15 * 0.5f);
float v19 = (v6 * 0.134145f);
float v20 = (v19 + 1.0f);
float v21 = (v20 * 0.7978846f);
float v22 = (v5 * 0.5f);
float v23 = (v13 * v13);
float v24 = (1.0f - v23);
float v25 = (v22 * v24);
float v26 = (v21 * v25);
float v27 = (v17 + v26);
float v28 = (v3 * v27);
float v29 = round_bf16((float)v28);
if (inside && live) p3[(a0 + a1 * 1001)] = Down<bf16>::of(v29);
{ {
if (inside && live) y30.add(v29);
} }
turn ^= 1; }
y30 = across_strided<8, 32, 256>(y30, scratch);
if (r == 0) {
if (inside) p6[(a0 + 0 * 1001)] = Down<float>::of(y30.a);
}
}
struct k_contract_cast_f32_mul_add_and_4_finish_words { u64 w[3]; };
extern "C" __global__ void __launch_bounds__(256) k_contract_cast_f32_mul_add_and_4_finish(const __grid_constant__ k_contract_cast_f32_mul_add_and_4_finish_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[2]; const u32 block = blockIdx.x;
float* p6 = (float*)w[0];
bf16* p4 = (bf16*)w[1];
constexpr int V = 1;
const int x = (int)threadIdx.x % 256, g = (int)threadIdx.x / 256 % 1, r = (int)threadIdx.x / 256;
int q = (int)block * 256 + x;
if (q >= 1001) return;
int a0 = q;
Sum<float> y30;
y30 = Sum<float>::none();
{ {
{ Sum<float> o; o.a = up(p6[(a0 + 0 * 1001)]); y30.merge(o); }
} }
float v30a = round_bf16((float)y30.a);
p4[(a0)] = Down<bf16>::of(v30a);
}
product 16 x 1001 over 16 in f32: bf16 p5[1001, 1] = bf16 p0[16, 1] * bf16 p1[1, 16]
launch k_contract_cast_f32_mul_add_and_4 <32 x 256> args [5, 2, 3, 6] numbers []
launch k_contract_cast_f32_mul_add_and_4_finish <4 x 256> args [6, 4] numbers []
