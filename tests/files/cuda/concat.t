test cuda
# parts of a concat, each written in place
func concat(x: f32[512, 256], y: f32[512, 512]) -> (z) {
  %a = exp %x
  %b = tanh %y
  %c = concat %a, %b [1]
  %z = neg %c
  return z = %z
}
----
k0_exp_tanh_concat_neg
  p0: y f32[262144] Read
  p1: x f32[131072] Read
  p2: %5 f32[393216] Write
DEV void k_exp_tanh_concat_neg_0(const u64* w, u64* fault, const u32 block) {
float* p0 = (float*)w[0];
float* p1 = (float*)w[1];
constexpr int V = 4;
const int x = (int)threadIdx.x % 256, g = (int)threadIdx.x / 256 % 1, r = (int)threadIdx.x / 256;
int q = (int)block * 256 + x;
int a0 = (int)((u32)q % (u32)64) * V;
int q_1 = (int)((u32)q / (u32)64);
int a1 = q_1;
Vec<float, V> r0;
r0 = load<float, V>(p0, (a1 * 256 + a0));
float v0[V]; unpack(v0, r0);
float v1[V]; LANES(j) v1[j] = s_exp(v0[j]);
float v2[V]; LANES(j) v2[j] = (-v1[j]);
store<float, V>(p1, (a1 * 768 + a0), packed<float>(v2));
}
DEV void k_exp_tanh_concat_neg_1(const u64* w, u64* fault, const u32 block) {
float* p0 = (float*)w[0];
float* p1 = (float*)w[1];
constexpr int V = 4;
const int x = (int)threadIdx.x % 256, g = (int)threadIdx.x / 256 % 1, r = (int)threadIdx.x / 256;
int q = (int)block * 256 + x;
int a0 = (int)((u32)q % (u32)128) * V;
int q_1 = (int)((u32)q / (u32)128);
int a1 = q_1;
Vec<float, V> r0;
r0 = load<float, V>(p0, (a1 * 512 + a0));
float v0[V]; unpack(v0, r0);
float v1[V]; LANES(j) v1[j] = s_tanh(v0[j]);
float v2[V]; LANES(j) v2[j] = (-v1[j]);
store<float, V>(p1, (a1 * 768 + a0 + 256), packed<float>(v2));
}
struct k_exp_tanh_concat_neg_words { u64 w[13]; };
extern "C" __global__ void __launch_bounds__(256) k_exp_tanh_concat_neg(const __grid_constant__ k_exp_tanh_concat_neg_words words) {
earlier_kernels_done();
const u64* all = words.w; u64* fault = (u64*)all[12];
int low = 0, high = 2;
while (high - low > 1) {
int middle = (low + high) / 2; if (all[4 + 4 * middle] <= blockIdx.x) low = middle; else high = middle;
}
const u64* t = all + 4 + 4 * low; const u32 block = blockIdx.x - (u32)t[0]; u64 w[2];
switch ((int)t[3]) {
case 0: UNROLL for (int i = 0; i < 2; ++i) w[i] = all[t[1] + i]; UNROLL for (int i = 0; i < 0; ++i) w[2 + i] = all[12 + t[2] + i]; k_exp_tanh_concat_neg_0(w, fault, block); break;
case 1: UNROLL for (int i = 0; i < 2; ++i) w[i] = all[t[1] + i]; UNROLL for (int i = 0; i < 0; ++i) w[2 + i] = all[12 + t[2] + i]; k_exp_tanh_concat_neg_1(w, fault, block); break;
}
}
launch k_exp_tanh_concat_neg <384 x 256> args [1, 2, 0, 2] numbers [0, 0, 0, 0, 128, 2, 0, 1]
