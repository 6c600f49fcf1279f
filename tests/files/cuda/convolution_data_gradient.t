test cuda
# of a convolution with stride 2, padding 1: zeros between the gradient's elements, and the filter backwards
func dgrad(dy: f16[8, 32, 28, 28], w: frozen f16[32, 64, 3, 3]) -> (dx) {
  %p = view.pad %dy lo [0, 0, 1, 1] hi [0, 0, 2, 2] interior [0, 0, 1, 1] value 0.0
  %a = view.window %p axis 2 stride 1 dilation 1 size 3
  %b = view.window %a axis 3 stride 1 dilation 1 size 3
  %f = view.flip %w [2, 3]
  %dx = contract %b, %f "abcdef,bgef->agcd" acc f32
  return dx = %dx
}
----
k0_copy
  p0: dy f16[200704] Read
  p1: %2 f16[200704] Write
struct k_copy_words { u64 w[3]; };
extern "C" __global__ void __launch_bounds__(256) k_copy(const __grid_constant__ k_copy_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[2]; const u32 block = blockIdx.x;
f16* p0 = (f16*)w[0];
f16* p1 = (f16*)w[1];
constexpr int V = 8;
const int tile_v = (int)(block % (u32)1) * 64, tile_w = (int)(block / (u32)1 % (u32)13) * 64;
int q = (int)(block / ((u32)1 * (u32)13));
int a0 = q;
__shared__ f16 t0[64 * 66];
UNROLL for (int t = threadIdx.x; t < 512; t += 256) {
const int dv = t / 8, dw = t % 8 * 8; const int a3 = tile_v + dv, a2 = tile_w + dw;
if (a3 < 32 && a2 < 784) {
const auto h0 = load<f16, 8>(p0, (a0 * 25088 + a2 + a3 * 784));
turn_in<f16, 8>(t0 + dv * 66 + dw, h0);
} }
__syncthreads();
UNROLL for (int t = threadIdx.x; t < 512; t += 256) {
const int dv = t % 8 * 8, dw = t / 8; const int a3 = tile_v + dv, a2 = tile_w + dw;
if (a3 < 32 && a2 < 784) {
Vec<f16, V> h0; UNROLL for (int j = 0; j < V; ++j) h0.x[j] = t0[(dv + j) * 66 + dw];
const Vec<f16, V> r0 = h0;
float v0[V]; unpack(v0, r0);
store<f16, V>(p1, (a0 * 25088 + a2 * 32 + a3), packed<f16>(v0));
} }
}
launch k_copy <104 x 256> args [0, 1] numbers []

k1_copy
  p0: w f16[18432] Read
  p1: %13 f16[18432] Write
struct k_copy_words { u64 w[3]; };
extern "C" __global__ void __launch_bounds__(256) k_copy(const __grid_constant__ k_copy_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[2]; const u32 block = blockIdx.x;
f16* p0 = (f16*)w[0];
f16* p1 = (f16*)w[1];
constexpr int V = 8;
const int x = (int)threadIdx.x % 256, g = (int)threadIdx.x / 256 % 1, r = (int)threadIdx.x / 256;
int q = (int)block * 256 + x;
int a3 = (int)((u32)q % (u32)8) * V;
int q_2 = (int)((u32)q / (u32)8);
int a2 = (int)((u32)q_2 % (u32)9);
int q_1 = (int)((u32)q_2 / (u32)9);
int a0 = q_1;
Vec<f16, V> r0;
LANES(j) r0.x[j] = p0[(a0 * 576 + a2 + (a3 + j) * 9)];
float v0[V]; unpack(v0, r0);
store<f16, V>(p1, (a0 * 576 + a2 * 64 + a3), packed<f16>(v0));
}
launch k_copy <9 x 256> args [0, 1] numbers []

k2_contract
  p0: %2 f16[200704] Read
  p1: %13 f16[18432] Read
  p2: %15 f16[1605632] Write
convolution in f32, 1 groups, windows 2/1 pad 1+1 2/1 pad 1+1: x f16 p2[8, 64, 56, 56] by [200704, 1, 3584, 64] = w f16 p1[32, 64, 3, 3] by [576, 1, 192, 64] * y f16 p0[8, 32, 28, 28] by [25088, 1, 896, 32]

k3_copy
  p0: %15 f16[1605632] Read
  p1: %17 f16[1605632] Write
struct k_copy_words { u64 w[3]; };
extern "C" __global__ void __launch_bounds__(256) k_copy(const __grid_constant__ k_copy_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[2]; const u32 block = blockIdx.x;
f16* p0 = (f16*)w[0];
f16* p1 = (f16*)w[1];
constexpr int V = 8;
const int tile_v = (int)(block % (u32)49) * 64, tile_w = (int)(block / (u32)49 % (u32)1) * 64;
int q = (int)(block / ((u32)49 * (u32)1));
int a0 = q;
__shared__ f16 t0[64 * 66];
UNROLL for (int t = threadIdx.x; t < 512; t += 256) {
const int dv = t / 8, dw = t % 8 * 8; const int a3 = tile_v + dv, a1 = tile_w + dw;
if (a3 < 3136 && a1 < 64) {
const auto h0 = load<f16, 8>(p0, (a0 * 200704 + a1 + a3 * 64));
turn_in<f16, 8>(t0 + dv * 66 + dw, h0);
} }
__syncthreads();
UNROLL for (int t = threadIdx.x; t < 512; t += 256) {
const int dv = t % 8 * 8, dw = t / 8; const int a3 = tile_v + dv, a1 = tile_w + dw;
if (a3 < 3136 && a1 < 64) {
Vec<f16, V> h0; UNROLL for (int j = 0; j < V; ++j) h0.x[j] = t0[(dv + j) * 66 + dw];
const Vec<f16, V> r0 = h0;
float v0[V]; unpack(v0, r0);
store<f16, V>(p1, (a0 * 200704 + a1 * 3136 + a3), packed<f16>(v0));
} }
}
launch k_copy <392 x 256> args [0, 1] numbers []
