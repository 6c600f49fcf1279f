test cuda
# numerics wide
# what stays a loop: zeros that are none, f64, a filter that runs backwards along one axis only, zeros among the weights' own
func loops(
  x: f32[2, 4, 6, 6],
  w: frozen f32[3, 4, 3, 3],
  d: f64[2, 4, 6, 6],
  e: frozen f64[3, 4, 3, 3],
  v: frozen f32[3, 4, 2, 3],
) -> (a, b, c, y) {
  %t1 = view.pad %x lo [0, 0, 1, 1] hi [0, 0, 1, 1] interior [0, 0, 0, 0] value 1.0
  %t2 = view.window %t1 axis 2 stride 1 dilation 1 size 3
  %t3 = view.window %t2 axis 3 stride 1 dilation 1 size 3
  %a = contract %t3, %w "abcdef,gbef->agcd" acc f32
  %t5 = view.pad %d lo [0, 0, 1, 1] hi [0, 0, 1, 1] interior [0, 0, 0, 0] value 0.0
  %t6 = view.window %t5 axis 2 stride 1 dilation 1 size 3
  %t7 = view.window %t6 axis 3 stride 1 dilation 1 size 3
  %b = contract %t7, %e "abcdef,gbef->agcd" acc f64
  %t9 = view.pad %x lo [0, 0, 1, 1] hi [0, 0, 1, 1] interior [0, 0, 0, 0] value 0.0
  %t10 = view.window %t9 axis 2 stride 1 dilation 1 size 3
  %t11 = view.window %t10 axis 3 stride 1 dilation 1 size 3
  %t12 = view.flip %w [2]
  %c = contract %t11, %t12 "abcdef,gbef->agcd" acc f32
  %t14 = view.pad %v lo [0, 0, 1, 0] hi [0, 0, 0, 0] interior [0, 0, 0, 0] value 0.0
  %y = contract %t11, %t14 "abcdef,gbef->agcd" acc f32
  return a = %a, b = %b, c = %c, y = %y
}
----
k0_contract
  p0: x f32[288] Read
  p1: w f32[108] Read
  p2: %8 f32[216] Write
struct k_contract_words { u64 w[4]; };
extern "C" __global__ void __launch_bounds__(32) k_contract(const __grid_constant__ k_contract_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[3]; const u32 block = blockIdx.x;
float* p0 = (float*)w[0];
float* p1 = (float*)w[1];
float* p2 = (float*)w[2];
constexpr int V = 2;
const int x = (int)threadIdx.x % 1, g = (int)threadIdx.x / 1 % 32, r = (int)threadIdx.x / 32;
int q = (int)block * 1 + x;
int a3 = (int)((u32)q % (u32)3) * V;
int q_3 = (int)((u32)q / (u32)3);
int a2 = (int)((u32)q_3 % (u32)6);
int q_2 = (int)((u32)q_3 / (u32)6);
int a1 = (int)((u32)q_2 % (u32)3);
int q_1 = (int)((u32)q_2 / (u32)3);
int a0 = q_1;
Sum<float> y2[V];
UNROLL for (int j = 0; j < V; ++j) y2[j] = Sum<float>::none();
_Pragma("unroll 4") for (int k = g; k < 36; k += 32) { {
int a6 = (int)((u32)k % (u32)3);
int k_2 = (int)((u32)k / (u32)3);
int a5 = (int)((u32)k_2 % (u32)3);
int k_1 = (int)((u32)k_2 / (u32)3);
int a4 = k_1;
Vec<float, V> r0;
LANES(j) r0.x[j] = (within((a2 + a5 + -1), 6) && within(((a3 + j) + a6 + -1), 6)) ? p0[(a0 * 144 + a2 * 6 + (a3 + j) + a4 * 36 + a5 * 6 + a6 + -7)] : Down<float>::of(1.0f);
float v0[V]; unpack(v0, r0);
Vec<float, 1> r1;
r1 = load<float, 1>(p1, (a1 * 36 + a4 * 9 + a5 * 3 + a6));
float v1 = up(r1.x[0]);
LANES(j) y2[j].add((float)(((float)v0[j]) * ((float)v1)));
} }
LANES(j) y2[j] = across_warp<32>(y2[j]);
float v2a[V]; LANES(j) v2a[j] = (float)y2[j].a;
if (g == 0) store<float, V>(p2, (a0 * 108 + a1 * 36 + a2 * 6 + a3), packed<float>(v2a));
}
launch k_contract <108 x 32> args [0, 1, 2] numbers []

k1_contract
  p0: d f64[288] Read
  p1: e f64[108] Read
  p2: %12 f64[216] Write
struct k_contract_words { u64 w[4]; };
extern "C" __global__ void __launch_bounds__(32) k_contract(const __grid_constant__ k_contract_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[3]; const u32 block = blockIdx.x;
double* p0 = (double*)w[0];
double* p1 = (double*)w[1];
double* p2 = (double*)w[2];
constexpr int V = 2;
const int x = (int)threadIdx.x % 1, g = (int)threadIdx.x / 1 % 32, r = (int)threadIdx.x / 32;
int q = (int)block * 1 + x;
int a3 = (int)((u32)q % (u32)3) * V;
int q_3 = (int)((u32)q / (u32)3);
int a2 = (int)((u32)q_3 % (u32)6);
int q_2 = (int)((u32)q_3 / (u32)6);
int a1 = (int)((u32)q_2 % (u32)3);
int q_1 = (int)((u32)q_2 / (u32)3);
int a0 = q_1;
Sum<double> y2[V];
UNROLL for (int j = 0; j < V; ++j) y2[j] = Sum<double>::none();
_Pragma("unroll 4") for (int k = g; k < 36; k += 32) { {
int a6 = (int)((u32)k % (u32)3);
int k_2 = (int)((u32)k / (u32)3);
int a5 = (int)((u32)k_2 % (u32)3);
int k_1 = (int)((u32)k_2 / (u32)3);
int a4 = k_1;
Vec<double, V> r0;
LANES(j) r0.x[j] = (within((a2 + a5 + -1), 6) && within(((a3 + j) + a6 + -1), 6)) ? p0[(a0 * 144 + a2 * 6 + (a3 + j) + a4 * 36 + a5 * 6 + a6 + -7)] : Down<double>::of(0.0);
double v0[V]; unpack(v0, r0);
Vec<double, 1> r1;
r1 = load<double, 1>(p1, (a1 * 36 + a4 * 9 + a5 * 3 + a6));
double v1 = up(r1.x[0]);
LANES(j) y2[j].add((double)(((double)v0[j]) * ((double)v1)));
} }
LANES(j) y2[j] = across_warp<32>(y2[j]);
double v2a[V]; LANES(j) v2a[j] = (double)y2[j].a;
if (g == 0) store<double, V>(p2, (a0 * 108 + a1 * 36 + a2 * 6 + a3), packed<double>(v2a));
}
launch k_contract <108 x 32> args [0, 1, 2] numbers []

k2_contract
  p0: x f32[288] Read
  p1: w f32[108] Read
  p2: %17 f32[216] Write
struct k_contract_words { u64 w[4]; };
extern "C" __global__ void __launch_bounds__(32) k_contract(const __grid_constant__ k_contract_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[3]; const u32 block = blockIdx.x;
float* p0 = (float*)w[0];
float* p1 = (float*)w[1];
float* p2 = (float*)w[2];
constexpr int V = 2;
const int x = (int)threadIdx.x % 1, g = (int)threadIdx.x / 1 % 32, r = (int)threadIdx.x / 32;
int q = (int)block * 1 + x;
int a3 = (int)((u32)q % (u32)3) * V;
int q_3 = (int)((u32)q / (u32)3);
int a2 = (int)((u32)q_3 % (u32)6);
int q_2 = (int)((u32)q_3 / (u32)6);
int a1 = (int)((u32)q_2 % (u32)3);
int q_1 = (int)((u32)q_2 / (u32)3);
int a0 = q_1;
Sum<float> y2[V];
UNROLL for (int j = 0; j < V; ++j) y2[j] = Sum<float>::none();
_Pragma("unroll 4") for (int k = g; k < 36; k += 32) { {
int a6 = (int)((u32)k % (u32)3);
int k_2 = (int)((u32)k / (u32)3);
int a5 = (int)((u32)k_2 % (u32)3);
int k_1 = (int)((u32)k_2 / (u32)3);
int a4 = k_1;
Vec<float, V> r0;
LANES(j) r0.x[j] = (within((a2 + a5 + -1), 6) && within(((a3 + j) + a6 + -1), 6)) ? p0[(a0 * 144 + a2 * 6 + (a3 + j) + a4 * 36 + a5 * 6 + a6 + -7)] : Down<float>::of(0.0f);
float v0[V]; unpack(v0, r0);
Vec<float, 1> r1;
r1 = load<float, 1>(p1, (a1 * 36 + a4 * 9 + a5 * -3 + a6 + 6));
float v1 = up(r1.x[0]);
LANES(j) y2[j].add((float)(((float)v0[j]) * ((float)v1)));
} }
LANES(j) y2[j] = across_warp<32>(y2[j]);
float v2a[V]; LANES(j) v2a[j] = (float)y2[j].a;
if (g == 0) store<float, V>(p2, (a0 * 108 + a1 * 36 + a2 * 6 + a3), packed<float>(v2a));
}
launch k_contract <108 x 32> args [0, 1, 2] numbers []

k3_contract
  p0: x f32[288] Read
  p1: v f32[72] Read
  p2: %19 f32[216] Write
struct k_contract_words { u64 w[4]; };
extern "C" __global__ void __launch_bounds__(32) k_contract(const __grid_constant__ k_contract_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[3]; const u32 block = blockIdx.x;
float* p0 = (float*)w[0];
float* p1 = (float*)w[1];
float* p2 = (float*)w[2];
constexpr int V = 2;
const int x = (int)threadIdx.x % 1, g = (int)threadIdx.x / 1 % 32, r = (int)threadIdx.x / 32;
int q = (int)block * 1 + x;
int a3 = (int)((u32)q % (u32)3) * V;
int q_3 = (int)((u32)q / (u32)3);
int a2 = (int)((u32)q_3 % (u32)6);
int q_2 = (int)((u32)q_3 / (u32)6);
int a1 = (int)((u32)q_2 % (u32)3);
int q_1 = (int)((u32)q_2 / (u32)3);
int a0 = q_1;
Sum<float> y2[V];
UNROLL for (int j = 0; j < V; ++j) y2[j] = Sum<float>::none();
_Pragma("unroll 4") for (int k = g; k < 36; k += 32) { {
int a6 = (int)((u32)k % (u32)3);
int k_2 = (int)((u32)k / (u32)3);
int a5 = (int)((u32)k_2 % (u32)3);
int k_1 = (int)((u32)k_2 / (u32)3);
int a4 = k_1;
Vec<float, V> r0;
LANES(j) r0.x[j] = (within((a2 + a5 + -1), 6) && within(((a3 + j) + a6 + -1), 6)) ? p0[(a0 * 144 + a2 * 6 + (a3 + j) + a4 * 36 + a5 * 6 + a6 + -7)] : Down<float>::of(0.0f);
float v0[V]; unpack(v0, r0);
Vec<float, 1> r1;
if (within((a5 + -1), 2)) r1 = load<float, 1>(p1, (a1 * 24 + a4 * 6 + a5 * 3 + a6 + -3)); else { r1.x[0] = Down<float>::of(0.0f); }
float v1 = up(r1.x[0]);
LANES(j) y2[j].add((float)(((float)v0[j]) * ((float)v1)));
} }
LANES(j) y2[j] = across_warp<32>(y2[j]);
float v2a[V]; LANES(j) v2a[j] = (float)y2[j].a;
if (g == 0) store<float, V>(p2, (a0 * 108 + a1 * 36 + a2 * 6 + a3), packed<float>(v2a));
}
launch k_contract <108 x 32> args [0, 1, 2] numbers []
