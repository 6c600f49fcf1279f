test cuda
# two states, value and position
func argmax(x: f32[512, 1000]) -> (value, index) {
  %a = reduce.argmax %x [1]
  %value = result %a [0]
  %index = result %a [1]
  return value = %value, index = %index
}
----
k0_argmax
  p0: x f32[512000] Read
  p1: %2 f32[512] Write
  p2: %3 i64[512] Write
  p3: partial3 f32[25600] ReadWrite
  p4: partial4 i64[25600] ReadWrite
struct k_argmax_words { u64 w[4]; };
extern "C" __global__ void __launch_bounds__(256) k_argmax(const __grid_constant__ k_argmax_words words) {
const u64* w = words.w; u64* fault = (u64*)w[3]; const u32 block = blockIdx.x;
float* p0 = (float*)w[0];
float* p3 = (float*)w[1];
i64* p4 = (i64*)w[2];
constexpr int V = 4;
__shared__ alignas(16) char scratch[8192];
const int x = 0, g = (int)threadIdx.x % 1, r = (int)threadIdx.x / 1;
int a2 = (u32)block / (u32)512;
int q = (int)((u32)block % (u32)512) * 1 + x;
int a0 = q;
ArgMax<float> y2;
y2 = ArgMax<float>::none();
const int low = a2 * 5, high = least_of<int>(low + 5, 250);
const int steps = (high - low) * 1;
_Pragma("unroll 4") for (int step = 0; step < steps; step += 256) {
int now = step + r; const bool live = now < steps; if (!live) now = 0;
int a1 = (low + now / 1) * V;
Vec<float, V> r0;
r0 = load<float, V>(p0, (a0 * 1000 + a1));
float v0[V]; LANES(j) v0[j] = up(r0.x[j]);
i64 v1[V]; LANES(j) v1[j] = ((a1 + j));
{ {
if (live) LANES(j) y2.add(v0[j], v1[j]);
} }
}
y2 = across<256, 256>(y2, scratch);
if (r == 0) {
p3[(a0 + a2 * 512)] = Down<float>::of(y2.a);
p4[(a0 + a2 * 512)] = Down<i64>::of(y2.b);
}
}
struct k_argmax_finish_words { u64 w[5]; };
extern "C" __global__ void __launch_bounds__(1024) k_argmax_finish(const __grid_constant__ k_argmax_finish_words words) {
const u64* w = words.w; u64* fault = (u64*)w[4]; const u32 block = blockIdx.x;
float* p3 = (float*)w[0];
i64* p4 = (i64*)w[1];
float* p1 = (float*)w[2];
i64* p2 = (i64*)w[3];
constexpr int V = 1;
__shared__ alignas(16) char scratch[32768];
const int x = (int)threadIdx.x % 32, g = (int)threadIdx.x / 32 % 32, r = (int)threadIdx.x / 1024;
int q = (int)block * 32 + x;
int a0 = q;
ArgMax<float> y2;
y2 = ArgMax<float>::none();
_Pragma("unroll 4") for (int k = g; k < 50; k += 32) { {
int a2 = k;
{ ArgMax<float> o; o.a = up(p3[(a0 + a2 * 512)]); o.b = up(p4[(a0 + a2 * 512)]); y2.merge(o); }
} }
y2 = across_strided<32, 32, 1024>(y2, scratch);
float v2a = (float)y2.a;
i64 v2b = (i64)y2.b;
if (g == 0) p1[(a0)] = Down<float>::of(v2a);
if (g == 0) p2[(a0)] = Down<i64>::of(v2b);
}
launch k_argmax <25600 x 256> args [0, 3, 4] numbers []
launch k_argmax_finish <16 x 1024> args [3, 4, 1, 2] numbers []
