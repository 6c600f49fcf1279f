test cuda
# 8-bit floats lie in words, and are floats in registers
func casts(x: f32[65536], y: f8e5m2[65536]) -> (a, b) {
  %a = cast.f8e4m3 %x
  %b = cast.bf16 %y
  return a = %a, b = %b
}
----
k0_cast_f8e4m3_cast_bf16
  p0: x f32[65536] Read
  p1: %2 f8e4m3[65536] Write
  p2: y f8e5m2[65536] Read
  p3: %3 bf16[65536] Write
DEV void k_cast_f8e4m3_cast_bf16_0(const u64* w, u64* fault, const u32 block) {
float* p0 = (float*)w[0];
f8e4m3* p1 = (f8e4m3*)w[1];
const int n0 = (int)(i64)w[2];
constexpr int V = 8;
const int x = (int)threadIdx.x % 256, g = (int)threadIdx.x / 256 % 1, r = (int)threadIdx.x / 256;
int q = (int)block * 256 + x;
if (q >= n0) return;
int a0 = q * V;
Vec<float, V> r0;
r0 = load<float, V>(p0, (a0));
float v0[V]; unpack(v0, r0);
float v1[V]; LANES(j) v1[j] = round_f8e4m3((float)v0[j]);
store<f8e4m3, V>(p1, (a0), packed<f8e4m3>(v1));
}
DEV void k_cast_f8e4m3_cast_bf16_1(const u64* w, u64* fault, const u32 block) {
f8e5m2* p0 = (f8e5m2*)w[0];
bf16* p1 = (bf16*)w[1];
const int n0 = (int)(i64)w[2];
constexpr int V = 16;
const int x = (int)threadIdx.x % 256, g = (int)threadIdx.x / 256 % 1, r = (int)threadIdx.x / 256;
int q = (int)block * 256 + x;
if (q >= n0) return;
int a0 = q * V;
Vec<f8e5m2, V> r0;
r0 = load<f8e5m2, V>(p0, (a0));
float v0[V]; unpack(v0, r0);
float v1[V]; LANES(j) v1[j] = round_bf16((float)v0[j]);
store<bf16, V>(p1, (a0), packed<bf16>(v1));
}
struct k_cast_f8e4m3_cast_bf16_words { u64 w[15]; };
extern "C" __global__ void __launch_bounds__(256) k_cast_f8e4m3_cast_bf16(const __grid_constant__ k_cast_f8e4m3_cast_bf16_words words) {
earlier_kernels_done();
const u64* all = words.w; u64* fault = (u64*)all[14];
int low = 0, high = 2;
while (high - low > 1) {
int middle = (low + high) / 2; if (all[4 + 4 * middle] <= blockIdx.x) low = middle; else high = middle;
}
const u64* t = all + 4 + 4 * low; const u32 block = blockIdx.x - (u32)t[0]; u64 w[3];
switch ((int)t[3]) {
case 0: UNROLL for (int i = 0; i < 2; ++i) w[i] = all[t[1] + i]; UNROLL for (int i = 0; i < 1; ++i) w[2 + i] = all[12 + t[2] + i]; k_cast_f8e4m3_cast_bf16_0(w, fault, block); break;
case 1: UNROLL for (int i = 0; i < 2; ++i) w[i] = all[t[1] + i]; UNROLL for (int i = 0; i < 1; ++i) w[2 + i] = all[12 + t[2] + i]; k_cast_f8e4m3_cast_bf16_1(w, fault, block); break;
}
}
launch k_cast_f8e4m3_cast_bf16 <48 x 256> args [0, 1, 2, 3] numbers [0, 0, 0, 0, 32, 2, 1, 1, 8192, 4096]
