test cuda
# rows that a group of threads holds in registers
func softmax(x: f32[256, 1024]) -> (p) {
  %max = reduce.max %x [1]
  %max1 = view.reshape %max [256, 1]
  %max2 = view.expand %max1 [256, 1024]
  %low = sub %x, %max2
  %exp = exp %low
  %sum = reduce.sum %exp [1]
  %sum1 = view.reshape %sum [256, 1]
  %sum2 = view.expand %sum1 [256, 1024]
  %p = div %exp, %sum2
  return p = %p
}
----
k0_max_sub_exp_sum_and_1
  p0: x f32[262144] Read
  p1: %9 f32[262144] Write
struct k_max_sub_exp_sum_and_1_words { u64 w[3]; };
extern "C" __global__ void __launch_bounds__(128) k_max_sub_exp_sum_and_1(const __grid_constant__ k_max_sub_exp_sum_and_1_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[2]; const u32 block = blockIdx.x;
float* p0 = (float*)w[0];
float* p1 = (float*)w[1];
constexpr int V = 4;
__shared__ Softmax<float> m0[1 * 4];
const int x = (int)threadIdx.x / 64, g = (int)threadIdx.x % 64, r = 0;
int q = (int)block * 2 + x;
int a0 = q;
Vec<float, V> h0[4];
UNROLL for (int i = 0; i < 4; ++i) { const int k = g + i * 64; {
int a1 = k * V;
h0[i] = load<float, V>(p0, (a0 * 1024 + a1));
} }
Softmax<float> y1;
y1 = Softmax<float>::none();
UNROLL for (int i = 0; i < 4; ++i) { const int k = g + i * 64; {
int a1 = k * V;
const Vec<float, V> r0 = h0[i];
float v0[V]; unpack(v0, r0);
add_all<V>(y1, v0);
} }
y1 = across<64, 128>(y1, m0);
float v1a = (float)y1.a;
float v1b = below_greatest(y1);
UNROLL for (int i = 0; i < 4; ++i) { const int k = g + i * 64; {
int a1 = k * V;
const Vec<float, V> r0 = h0[i];
float v0[V]; unpack(v0, r0);
float v2[V]; LANES(j) v2[j] = (v0[j] - v1a);
float v3[V]; LANES(j) v3[j] = s_exp(v2[j]);
float v5[V]; quotients(v5, v3, divisor(v1b));
store<float, V>(p1, (a0 * 1024 + a1), packed<float>(v5));
} }
}
launch k_max_sub_exp_sum_and_1 <128 x 128> args [0, 1] numbers []
