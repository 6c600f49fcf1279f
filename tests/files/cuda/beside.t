test cuda
# three tensors side by side in one launch: two of them are one function with other sizes
func adam(
  pa: donated f32[768],
  ga: f32[768],
  ma: donated f32[768],
  va: donated f32[768],
  pb: donated f32[768, 64],
  gb: f32[768, 64],
  mb: donated f32[768, 64],
  vb: donated f32[768, 64],
  pc: donated f32[1024, 33],
  gc: f32[1024, 33],
  mc: donated f32[1024, 33],
  vc: donated f32[1024, 33],
  lr: f32[],
) -> (pa, ma, va, pb, mb, vb, pc, mc, vc) {
  %k09 = const f32 0.9
  %k01 = const f32 0.1
  %c09a = view.reshape %k09 [1]
  %c01a = view.reshape %k01 [1]
  %ratea = view.reshape %lr [1]
  %b1_a = view.expand %c09a [768]
  %b2_a = view.expand %c01a [768]
  %m_a = mul %ma, %b1_a
  %g_a = mul %ga, %b2_a
  %mm_a = add %m_a, %g_a
  %v_a = mul %va, %b1_a
  %gg_a = mul %ga, %ga
  %gs_a = mul %gg_a, %b2_a
  %vv_a = add %v_a, %gs_a
  %s_a = sqrt %vv_a
  %u_a = div %mm_a, %s_a
  %l_a = view.expand %ratea [768]
  %ul_a = mul %u_a, %l_a
  %pp_a = sub %pa, %ul_a
  %c09b = view.reshape %k09 [1, 1]
  %c01b = view.reshape %k01 [1, 1]
  %rateb = view.reshape %lr [1, 1]
  %b1_b = view.expand %c09b [768, 64]
  %b2_b = view.expand %c01b [768, 64]
  %m_b = mul %mb, %b1_b
  %g_b = mul %gb, %b2_b
  %mm_b = add %m_b, %g_b
  %v_b = mul %vb, %b1_b
  %gg_b = mul %gb, %gb
  %gs_b = mul %gg_b, %b2_b
  %vv_b = add %v_b, %gs_b
  %s_b = sqrt %vv_b
  %u_b = div %mm_b, %s_b
  %l_b = view.expand %rateb [768, 64]
  %ul_b = mul %u_b, %l_b
  %pp_b = sub %pb, %ul_b
  %c09c = view.reshape %k09 [1, 1]
  %c01c = view.reshape %k01 [1, 1]
  %ratec = view.reshape %lr [1, 1]
  %b1_c = view.expand %c09c [1024, 33]
  %b2_c = view.expand %c01c [1024, 33]
  %m_c = mul %mc, %b1_c
  %g_c = mul %gc, %b2_c
  %mm_c = add %m_c, %g_c
  %v_c = mul %vc, %b1_c
  %gg_c = mul %gc, %gc
  %gs_c = mul %gg_c, %b2_c
  %vv_c = add %v_c, %gs_c
  %s_c = sqrt %vv_c
  %u_c = div %mm_c, %s_c
  %l_c = view.expand %ratec [1024, 33]
  %ul_c = mul %u_c, %l_c
  %pp_c = sub %pc, %ul_c
  return pa = %pp_a, ma = %mm_a, va = %vv_a, pb = %pp_b, mb = %mm_b, vb = %vv_b, pc = %pp_c, mc = %mm_c, vc = %vv_c
}
----
k0_mul_add_sqrt_div_and_1
  p0: mb f32[49152] Read
  p1: gb f32[49152] Read
  p2: %39 f32[49152] Write
  p3: vb f32[49152] Read
  p4: %43 f32[49152] Write
  p5: pb f32[49152] Read
  p6: lr f32[1] Read
  p7: %48 f32[49152] Write
  p8: mc f32[33792] Read
  p9: gc f32[33792] Read
  p10: %53 f32[33792] Write
  p11: vc f32[33792] Read
  p12: %57 f32[33792] Write
  p13: pc f32[33792] Read
  p14: lr f32[1] Read
  p15: %62 f32[33792] Write
  p16: ma f32[768] Read
  p17: ga f32[768] Read
  p18: %22 f32[768] Write
  p19: va f32[768] Read
  p20: %26 f32[768] Write
  p21: pa f32[768] Read
  p22: lr f32[1] Read
  p23: %31 f32[768] Write
DEV void k_mul_add_sqrt_div_and_1_0(const u64* w, u64* fault, const u32 block) {
float* p0 = (float*)w[0];
float* p1 = (float*)w[1];
float* p2 = (float*)w[2];
float* p3 = (float*)w[3];
float* p4 = (float*)w[4];
float* p5 = (float*)w[5];
float* p6 = (float*)w[6];
float* p7 = (float*)w[7];
const int n0 = (int)(i64)w[8];
constexpr int V = 4;
const int x = (int)threadIdx.x % 256, g = (int)threadIdx.x / 256 % 1, r = (int)threadIdx.x / 256;
int q = (int)block * 256 + x;
if (q >= n0) return;
int a0 = q * V;
Vec<float, V> r0;
r0 = load<float, V>(p0, (a0));
float v0[V]; unpack(v0, r0);
float v1[V]; LANES(j) v1[j] = (v0[j] * 0.9f);
Vec<float, V> r1;
r1 = load<float, V>(p1, (a0));
float v2[V]; unpack(v2, r1);
float v3[V]; LANES(j) v3[j] = (v2[j] * 0.1f);
float v4[V]; LANES(j) v4[j] = (v1[j] + v3[j]);
Vec<float, V> r2;
r2 = load<float, V>(p2, (a0));
float v5[V]; unpack(v5, r2);
float v6[V]; LANES(j) v6[j] = (v5[j] * 0.9f);
float v7[V]; LANES(j) v7[j] = (v2[j] * v2[j]);
float v8[V]; LANES(j) v8[j] = (v7[j] * 0.1f);
float v9[V]; LANES(j) v9[j] = (v6[j] + v8[j]);
Vec<float, V> r3;
r3 = load<float, V>(p3, (a0));
float v10[V]; unpack(v10, r3);
float v11[V]; LANES(j) v11[j] = s_sqrt(v9[j]);
float v12[V]; LANES(j) v12[j] = s_div(v4[j], v11[j]);
Vec<float, 1> r4;
r4 = load<float, 1>(p4, (0));
float v13 = up(r4.x[0]);
float v14[V]; LANES(j) v14[j] = (v12[j] * v13);
float v15[V]; LANES(j) v15[j] = (v10[j] - v14[j]);
store<float, V>(p5, (a0), packed<float>(v4));
store<float, V>(p6, (a0), packed<float>(v9));
store<float, V>(p7, (a0), packed<float>(v15));
}
struct k_mul_add_sqrt_div_and_1_words { u64 w[40]; };
extern "C" __global__ void __launch_bounds__(256) k_mul_add_sqrt_div_and_1(const __grid_constant__ k_mul_add_sqrt_div_and_1_words words) {
earlier_kernels_done();
const u64* all = words.w; u64* fault = (u64*)all[39];
int low = 0, high = 3;
while (high - low > 1) {
int middle = (low + high) / 2; if (all[24 + 4 * middle] <= blockIdx.x) low = middle; else high = middle;
}
const u64* t = all + 24 + 4 * low; const u32 block = blockIdx.x - (u32)t[0]; u64 w[9];
switch ((int)t[3]) {
case 0: UNROLL for (int i = 0; i < 8; ++i) w[i] = all[t[1] + i]; UNROLL for (int i = 0; i < 1; ++i) w[8 + i] = all[36 + t[2] + i]; k_mul_add_sqrt_div_and_1_0(w, fault, block); break;
}
}
launch k_mul_add_sqrt_div_and_1 <82 x 256> args [0, 1, 3, 5, 6, 2, 4, 7, 8, 9, 11, 13, 14, 10, 12, 15, 16, 17, 19, 21, 22, 18, 20, 23] numbers [0, 0, 0, 0, 48, 8, 1, 0, 81, 16, 2, 0, 12288, 8448, 192]
