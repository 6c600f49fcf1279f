test cuda
# of a convolution with stride 2, padding 1
func wgrad(x: f16[8, 64, 56, 56], dy: f16[8, 32, 28, 28]) -> (dw) {
  %p = view.pad %x lo [0, 0, 1, 1] hi [0, 0, 1, 1] interior [0, 0, 0, 0] value 0.0
  %a = view.window %p axis 2 stride 2 dilation 1 size 3
  %b = view.window %a axis 3 stride 2 dilation 1 size 3
  %dw = contract %b, %dy "abcdef,agcd->gbef" acc f32
  return dw = %dw
}
----
k0_copy
  p0: x f16[1605632] Read
  p1: %2 f16[1605632] Write
  p2: dy f16[200704] Read
  p3: %6 f16[200704] Write
DEV void k_copy_0(const u64* w, u64* fault, const u32 block) {
f16* p0 = (f16*)w[0];
f16* p1 = (f16*)w[1];
const int n0 = (int)(i64)w[2];
const int n1 = (int)(i64)w[3];
const int n2 = (int)(i64)w[4];
const int n3 = (int)(i64)w[5];
const int n4 = (int)(i64)w[6];
const int n5 = (int)(i64)w[7];
const int n6 = (int)(i64)w[8];
constexpr int V = 8;
const int tile_v = (int)(block % (u32)1) * 64, tile_w = (int)(block / (u32)1 % (u32)n0) * 64;
int q = (int)(block / ((u32)1 * (u32)n0));
int a0 = q;
__shared__ f16 t0[64 * 66];
UNROLL for (int t = threadIdx.x; t < 512; t += 256) {
const int dv = t / 8, dw = t % 8 * 8; const int a1 = tile_v + dv, a2 = tile_w + dw;
if (a1 < n1 && a2 < n2) {
const auto h0 = load<f16, 8>(p0, (a0 * n3 + a2 + a1 * n4));
turn_in<f16, 8>(t0 + dv * 66 + dw, h0);
} }
__syncthreads();
UNROLL for (int t = threadIdx.x; t < 512; t += 256) {
const int dv = t % 8 * 8, dw = t / 8; const int a1 = tile_v + dv, a2 = tile_w + dw;
if (a1 < n1 && a2 < n2) {
Vec<f16, V> h0; UNROLL for (int j = 0; j < V; ++j) h0.x[j] = t0[(dv + j) * 66 + dw];
const Vec<f16, V> r0 = h0;
float v0[V]; unpack(v0, r0);
store<f16, V>(p1, (a0 * n5 + a2 * n6 + a1), packed<f16>(v0));
} }
}
struct k_copy_words { u64 w[27]; };
extern "C" __global__ void __launch_bounds__(256) k_copy(const __grid_constant__ k_copy_words words) {
earlier_kernels_done();
const u64* all = words.w; u64* fault = (u64*)all[26];
int low = 0, high = 2;
while (high - low > 1) {
int middle = (low + high) / 2; if (all[4 + 4 * middle] <= blockIdx.x) low = middle; else high = middle;
}
const u64* t = all + 4 + 4 * low; const u32 block = blockIdx.x - (u32)t[0]; u64 w[9];
switch ((int)t[3]) {
case 0: UNROLL for (int i = 0; i < 2; ++i) w[i] = all[t[1] + i]; UNROLL for (int i = 0; i < 7; ++i) w[2 + i] = all[12 + t[2] + i]; k_copy_0(w, fault, block); break;
}
}
launch k_copy <496 x 256> args [0, 1, 2, 3] numbers [0, 0, 0, 0, 392, 2, 7, 0, 49, 64, 3136, 200704, 3136, 200704, 64, 13, 32, 784, 25088, 784, 25088, 32]

k1_contract
  p0: %2 f16[1605632] Read
  p1: %6 f16[200704] Read
  p2: %14 f16[18432] Write
convolution in f32, 1 groups, windows 2/1 pad 1+1 2/1 pad 1+1: w f16 p2[32, 64, 3, 3] by [576, 1, 192, 64] = x f16 p0[8, 64, 56, 56] by [200704, 1, 3584, 64] * y f16 p1[8, 32, 28, 28] by [25088, 1, 896, 32]

k2_copy
  p0: %14 f16[18432] Read
  p1: %16 f16[18432] Write
struct k_copy_words { u64 w[3]; };
extern "C" __global__ void __launch_bounds__(256) k_copy(const __grid_constant__ k_copy_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[2]; const u32 block = blockIdx.x;
f16* p0 = (f16*)w[0];
f16* p1 = (f16*)w[1];
constexpr int V = 1;
const int x = (int)threadIdx.x % 256, g = (int)threadIdx.x / 256 % 1, r = (int)threadIdx.x / 256;
int q = (int)block * 256 + x;
int a3 = (int)((u32)q % (u32)9);
int q_2 = (int)((u32)q / (u32)9);
int a1 = (int)((u32)q_2 % (u32)64);
int q_1 = (int)((u32)q_2 / (u32)64);
int a0 = q_1;
Vec<f16, 1> r0;
r0 = load<f16, 1>(p0, (a0 * 576 + a1 + a3 * 64));
float v0 = up(r0.x[0]);
p1[(a0 * 576 + a1 * 9 + a3)] = Down<f16>::of(v0);
}
launch k_copy <72 x 256> args [0, 1] numbers []
