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
struct k_argmax_words { u64 w[4]; };
extern "C" __global__ void __launch_bounds__(128) k_argmax(const __grid_constant__ k_argmax_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[3]; const u32 block = blockIdx.x;
float* p0 = (float*)w[0];
float* p1 = (float*)w[1];
i64* p2 = (i64*)w[2];
constexpr int V = 4;
__shared__ ArgMax<float> m0[1 * 4];
const int x = (int)threadIdx.x / 64, g = (int)threadIdx.x % 64, r = 0;
int q = (int)block * 2 + x;
int a0 = q;
ArgMax<float> y2;
y2 = ArgMax<float>::none();
_Pragma("unroll 4") for (int k = g; k < 250; k += 64) { {
int a1 = k * V;
Vec<float, V> r0;
r0 = load<float, V>(p0, (a0 * 1000 + a1));
float v0[V]; unpack(v0, r0);
i64 v1[V]; LANES(j) v1[j] = ((a1 + j));
LANES(j) y2.add(v0[j], v1[j]);
} }
y2 = across<64, 128>(y2, m0);
float v2a = (float)y2.a;
i64 v2b = (i64)y2.b;
if (g == 0) p1[(a0)] = Down<float>::of(v2a);
if (g == 0) p2[(a0)] = Down<i64>::of(v2b);
}
launch k_argmax <256 x 128> args [0, 1, 2] numbers []
