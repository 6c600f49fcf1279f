test cuda
# no condition tells windows from other axes, nor the last column, which no window reaches
func conv(x: bf16[4, 16, 32, 37], w: frozen bf16[24, 16, 5, 3]) -> (y) {
  %a = view.window %x axis 2 stride 1 dilation 1 size 5
  %b = view.window %a axis 3 stride 3 dilation 1 size 3
  %y = contract %b, %w "abcdef,gbef->agcd" acc f32
  return y = %y
}
----
k0_copy
  p0: x bf16[75776] Read
  p1: %2 bf16[75776] Write
struct k_copy_words { u64 w[3]; };
extern "C" __global__ void __launch_bounds__(256) k_copy(const __grid_constant__ k_copy_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[2]; const u32 block = blockIdx.x;
bf16* p0 = (bf16*)w[0];
bf16* p1 = (bf16*)w[1];
constexpr int V = 8;
const int tile_v = (int)(block % (u32)1) * 64, tile_w = (int)(block / (u32)1 % (u32)19) * 64;
int q = (int)(block / ((u32)1 * (u32)19));
int a0 = q;
__shared__ bf16 t0[64 * 66];
UNROLL for (int t = threadIdx.x; t < 512; t += 256) {
const int dv = t / 8, dw = t % 8 * 8; const int a3 = tile_v + dv, a2 = tile_w + dw;
if (a3 < 16 && a2 < 1184) {
const auto h0 = load<bf16, 8>(p0, (a0 * 18944 + a2 + a3 * 1184));
turn_in<bf16, 8>(t0 + dv * 66 + dw, h0);
} }
__syncthreads();
UNROLL for (int t = threadIdx.x; t < 512; t += 256) {
const int dv = t % 8 * 8, dw = t / 8; const int a3 = tile_v + dv, a2 = tile_w + dw;
if (a3 < 16 && a2 < 1184) {
Vec<bf16, V> h0; UNROLL for (int j = 0; j < V; ++j) h0.x[j] = t0[(dv + j) * 66 + dw];
const Vec<bf16, V> r0 = h0;
float v0[V]; unpack(v0, r0);
store<bf16, V>(p1, (a0 * 18944 + a2 * 16 + a3), packed<bf16>(v0));
} }
}
launch k_copy <76 x 256> args [0, 1] numbers []

k1_copy
  p0: w bf16[5760] Read
  p1: %10 bf16[5760] Write
struct k_copy_words { u64 w[3]; };
extern "C" __global__ void __launch_bounds__(256) k_copy(const __grid_constant__ k_copy_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[2]; const u32 block = blockIdx.x;
bf16* p0 = (bf16*)w[0];
bf16* p1 = (bf16*)w[1];
constexpr int V = 8;
const int x = (int)threadIdx.x % 256, g = (int)threadIdx.x / 256 % 1, r = (int)threadIdx.x / 256;
int q = (int)block * 256 + x;
if (q >= 720) return;
int a3 = (int)((u32)q % (u32)2) * V;
int q_2 = (int)((u32)q / (u32)2);
int a2 = (int)((u32)q_2 % (u32)15);
int q_1 = (int)((u32)q_2 / (u32)15);
int a0 = q_1;
Vec<bf16, V> r0;
LANES(j) r0.x[j] = p0[(a0 * 240 + a2 + (a3 + j) * 15)];
float v0[V]; unpack(v0, r0);
store<bf16, V>(p1, (a0 * 240 + a2 * 16 + a3), packed<bf16>(v0));
}
launch k_copy <3 x 256> args [0, 1] numbers []

k2_contract
  p0: %2 bf16[75776] Read
  p1: %10 bf16[5760] Read
  p2: %11 bf16[32256] Write
convolution in f32, 1 groups, windows 1/1 pad 0+0 3/1 pad 0+0: y bf16 p2[4, 24, 28, 12] by [8064, 1, 288, 24] = x bf16 p0[4, 16, 32, 37] by [18944, 1, 592, 16] * w bf16 p1[24, 16, 5, 3] by [240, 1, 48, 16]

k3_copy
  p0: %11 bf16[32256] Read
  p1: %13 bf16[32256] Write
struct k_copy_words { u64 w[3]; };
extern "C" __global__ void __launch_bounds__(256) k_copy(const __grid_constant__ k_copy_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[2]; const u32 block = blockIdx.x;
bf16* p0 = (bf16*)w[0];
bf16* p1 = (bf16*)w[1];
constexpr int V = 8;
const int tile_v = (int)(block % (u32)6) * 64, tile_w = (int)(block / (u32)6 % (u32)1) * 64;
int q = (int)(block / ((u32)6 * (u32)1));
int a0 = q;
__shared__ bf16 t0[64 * 66];
UNROLL for (int t = threadIdx.x; t < 512; t += 256) {
const int dv = t / 8, dw = t % 8 * 8; const int a3 = tile_v + dv, a1 = tile_w + dw;
if (a3 < 336 && a1 < 24) {
const auto h0 = load<bf16, 8>(p0, (a0 * 8064 + a1 + a3 * 24));
turn_in<bf16, 8>(t0 + dv * 66 + dw, h0);
} }
__syncthreads();
UNROLL for (int t = threadIdx.x; t < 512; t += 256) {
const int dv = t % 8 * 8, dw = t / 8; const int a3 = tile_v + dv, a1 = tile_w + dw;
if (a3 < 336 && a1 < 24) {
Vec<bf16, V> h0; UNROLL for (int j = 0; j < V; ++j) h0.x[j] = t0[(dv + j) * 66 + dw];
const Vec<bf16, V> r0 = h0;
float v0[V]; unpack(v0, r0);
store<bf16, V>(p1, (a0 * 8064 + a1 * 336 + a3), packed<bf16>(v0));
} }
}
launch k_copy <24 x 256> args [0, 1] numbers []
