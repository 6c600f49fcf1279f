test cuda
# a value that is the same in all lanes of a store
func spread(x: f32[8, 1]) -> (y) {
  %1 = exp %x
  %2 = cast.bf16 %1
  %3 = view.expand %2 [8, 512]
  %4 = neg %3
  return y = %4
}
----
k0_exp_cast_bf16_neg
  p0: x f32[8] Read
  p1: %4 bf16[4096] Write
struct k_exp_cast_bf16_neg_words { u64 w[3]; };
extern "C" __global__ void __launch_bounds__(256) k_exp_cast_bf16_neg(const __grid_constant__ k_exp_cast_bf16_neg_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[2]; const u32 block = blockIdx.x;
float* p0 = (float*)w[0];
bf16* p1 = (bf16*)w[1];
constexpr int V = 8;
const int x = (int)threadIdx.x % 256, g = (int)threadIdx.x / 256 % 1, r = (int)threadIdx.x / 256;
int q = (int)block * 256 + x;
int a1 = (int)((u32)q % (u32)64) * V;
int q_1 = (int)((u32)q / (u32)64);
int a0 = q_1;
Vec<float, 1> r0;
r0 = load<float, 1>(p0, (a0));
float v0 = up(r0.x[0]);
float v1 = s_exp(v0);
float v2 = round_bf16((float)v1);
float v3 = (-v2);
store<bf16, V>(p1, (a0 * 512 + a1), filled<bf16, V>(v3));
}
launch k_exp_cast_bf16_neg <2 x 256> args [0, 1] numbers []
