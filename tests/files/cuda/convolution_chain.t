test cuda
# numerics wide
# channels first outside, last between: only x and the result are transposed
func chain(x: f16[8, 64, 28, 28], w: frozen f16[64, 64, 3, 3], b: frozen f16[64], v: frozen f16[64, 64, 3, 3]) -> (y) {
  %t1 = view.pad %x lo [0, 0, 1, 1] hi [0, 0, 1, 1] interior [0, 0, 0, 0] value 0.0
  %t2 = view.window %t1 axis 2 stride 1 dilation 1 size 3
  %t3 = view.window %t2 axis 3 stride 1 dilation 1 size 3
  %t4 = contract %t3, %w "abcdef,gbef->agcd" acc f32
  %t5 = view.reshape %b [1, 64, 1, 1]
  %t6 = view.expand %t5 [8, 64, 28, 28]
  %t7 = add %t4, %t6
  %zero = const f16 0.0 : f16[]
  %t8 = view.reshape %zero [1, 1, 1, 1]
  %t9 = view.expand %t8 [8, 64, 28, 28]
  %t10 = max %t7, %t9
  %t11 = view.pad %t10 lo [0, 0, 1, 1] hi [0, 0, 1, 1] interior [0, 0, 0, 0] value 0.0
  %t12 = view.window %t11 axis 2 stride 1 dilation 1 size 3
  %t13 = view.window %t12 axis 3 stride 1 dilation 1 size 3
  %t14 = contract %t13, %v "abcdef,gbef->agcd" acc f32
  %y = add %t14, %x
  return y = %y
}
----
k0_copy
  p0: x f16[401408] Read
  p1: %2 f16[401408] Write
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
if (a3 < 64 && a2 < 784) {
const auto h0 = load<f16, 8>(p0, (a0 * 50176 + a2 + a3 * 784));
turn_in<f16, 8>(t0 + dv * 66 + dw, h0);
} }
__syncthreads();
UNROLL for (int t = threadIdx.x; t < 512; t += 256) {
const int dv = t % 8 * 8, dw = t / 8; const int a3 = tile_v + dv, a2 = tile_w + dw;
if (a3 < 64 && a2 < 784) {
Vec<f16, V> h0; UNROLL for (int j = 0; j < V; ++j) h0.x[j] = t0[(dv + j) * 66 + dw];
const Vec<f16, V> r0 = h0;
float v0[V]; unpack(v0, r0);
store<f16, V>(p1, (a0 * 50176 + a2 * 64 + a3), packed<f16>(v0));
} }
}
launch k_copy <104 x 256> args [0, 1] numbers []

k1_copy
  p0: w f16[36864] Read
  p1: %14 f16[36864] Write
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
launch k_copy <18 x 256> args [0, 1] numbers []

k2_contract_add_max_copy
  p0: %2 f16[401408] Read
  p1: %14 f16[36864] Read
  p2: b f16[64] Read
  p3: %25 f16[401408] Write
convolution in f32, 1 groups, windows 1/1 pad 1+1 1/1 pad 1+1: y f16 p3[8, 64, 28, 28] by [50176, 1, 1792, 64] = x f16 p0[8, 64, 28, 28] by [50176, 1, 1792, 64] * w f16 p1[64, 64, 3, 3] by [576, 1, 192, 64] + p2[0..] over columns, Relu

k3_copy
  p0: v f16[36864] Read
  p1: %34 f16[36864] Write
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
launch k_copy <18 x 256> args [0, 1] numbers []

k4_contract
  p0: %25 f16[401408] Read
  p1: %34 f16[36864] Read
  p2: %35 f16[401408] Write
convolution in f32, 1 groups, windows 1/1 pad 1+1 1/1 pad 1+1: y f16 p2[8, 64, 28, 28] by [50176, 1, 1792, 64] = x f16 p0[8, 64, 28, 28] by [50176, 1, 1792, 64] * w f16 p1[64, 64, 3, 3] by [576, 1, 192, 64]

k5_add
  p0: %2 f16[401408] Read
  p1: %35 f16[401408] Read
  p2: %37 f16[401408] Write
struct k_add_words { u64 w[4]; };
extern "C" __global__ void __launch_bounds__(256) k_add(const __grid_constant__ k_add_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[3]; const u32 block = blockIdx.x;
f16* p0 = (f16*)w[0];
f16* p1 = (f16*)w[1];
f16* p2 = (f16*)w[2];
constexpr int V = 8;
const int tile_v = (int)(block % (u32)13) * 64, tile_w = (int)(block / (u32)13 % (u32)1) * 64;
int q = (int)(block / ((u32)13 * (u32)1));
int a0 = q;
__shared__ f16 t0[64 * 66];
__shared__ f16 t1[64 * 66];
UNROLL for (int t = threadIdx.x; t < 512; t += 256) {
const int dv = t / 8, dw = t % 8 * 8; const int a3 = tile_v + dv, a1 = tile_w + dw;
if (a3 < 784 && a1 < 64) {
const auto h0 = load<f16, 8>(p0, (a0 * 50176 + a1 + a3 * 64));
turn_in<f16, 8>(t0 + dv * 66 + dw, h0);
const auto h1 = load<f16, 8>(p1, (a0 * 50176 + a1 + a3 * 64));
turn_in<f16, 8>(t1 + dv * 66 + dw, h1);
} }
__syncthreads();
UNROLL for (int t = threadIdx.x; t < 512; t += 256) {
const int dv = t % 8 * 8, dw = t / 8; const int a3 = tile_v + dv, a1 = tile_w + dw;
if (a3 < 784 && a1 < 64) {
Vec<f16, V> h0; UNROLL for (int j = 0; j < V; ++j) h0.x[j] = t0[(dv + j) * 66 + dw];
Vec<f16, V> h1; UNROLL for (int j = 0; j < V; ++j) h1.x[j] = t1[(dv + j) * 66 + dw];
const Vec<f16, V> r0 = h0;
float v0[V]; unpack(v0, r0);
const Vec<f16, V> r1 = h1;
float v1[V]; unpack(v1, r1);
float v2[V]; LANES(j) v2[j] = (v0[j] + v1[j]);
store<f16, V>(p2, (a0 * 50176 + a1 * 784 + a3), packed<f16>(v2));
} }
}
launch k_add <104 x 256> args [0, 1, 2] numbers []
