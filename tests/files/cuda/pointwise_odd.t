test cuda
# an odd size: one point per thread, and a last block that is not full
func odd(x: f32[1013], y: f32[1013]) -> (z) {
  %t = tanh %x
  %z = mul %t, %y
  return z = %z
}
----
k0_tanh_mul
  p0: y f32[1013] Read
  p1: x f32[1013] Read
  p2: %3 f32[1013] Write
struct k_tanh_mul_words { u64 w[4]; };
extern "C" __global__ void __launch_bounds__(256) k_tanh_mul(const __grid_constant__ k_tanh_mul_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[3]; const u32 block = blockIdx.x;
float* p0 = (float*)w[0];
float* p1 = (float*)w[1];
float* p2 = (float*)w[2];
constexpr int V = 1;
const int x = (int)threadIdx.x % 256, g = (int)threadIdx.x / 256 % 1, r = (int)threadIdx.x / 256;
int q = (int)block * 256 + x;
if (q >= 1013) return;
int a0 = q;
Vec<float, 1> r0;
r0 = load<float, 1>(p0, (a0));
float v0 = up(r0.x[0]);
Vec<float, 1> r1;
r1 = load<float, 1>(p1, (a0));
float v1 = up(r1.x[0]);
float v2 = s_tanh(v1);
float v3 = (v0 * v2);
p2[(a0)] = Down<float>::of(v3);
}
launch k_tanh_mul <4 x 256> args [0, 1, 2] numbers []
