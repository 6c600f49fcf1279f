test cuda
# two points per thread, whose loads come first
func large(x: f32[8192, 8192], y: f32[8192, 8192]) -> (z) {
  %z = add %x, %y
  return z = %z
}
----
k0_add
  p0: x f32[67108864] Read
  p1: y f32[67108864] Read
  p2: %2 f32[67108864] Write
struct k_add_words { u64 w[4]; };
extern "C" __global__ void __launch_bounds__(256) k_add(const __grid_constant__ k_add_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[3]; const u32 block = blockIdx.x;
float* p0 = (float*)w[0];
float* p1 = (float*)w[1];
float* p2 = (float*)w[2];
constexpr int V = 4;
const int x = (int)threadIdx.x % 256, g = (int)threadIdx.x / 256 % 1, r = (int)threadIdx.x / 256;
Vec<float, V> h0[2];
Vec<float, V> h1[2];
UNROLL for (int u = 0; u < 2; ++u) {
int q = (int)block * 512 + u * 256 + x;
{
int a1 = q * V;
h0[u] = load<float, V>(p0, (a1));
h1[u] = load<float, V>(p1, (a1));
} }
UNROLL for (int u = 0; u < 2; ++u) {
int q = (int)block * 512 + u * 256 + x;
{
int a1 = q * V;
const Vec<float, V> r0 = h0[u];
float v0[V]; unpack(v0, r0);
const Vec<float, V> r1 = h1[u];
float v1[V]; unpack(v1, r1);
float v2[V]; LANES(j) v2[j] = (v0[j] + v1[j]);
store<float, V>(p2, (a1), packed<float>(v2));
} }
}
launch k_add <32768 x 256> args [0, 1, 2] numbers []
