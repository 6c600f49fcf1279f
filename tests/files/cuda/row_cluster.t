test cuda
# rows so long that the blocks of a cluster share one; roundings may be left out
# numerics wide
func softmax(x: bf16[64, 65536]) -> (p) {
  %wide = cast.f32 %x
  %max = reduce.max %wide [1]
  %max1 = view.reshape %max [64, 1]
  %max2 = view.expand %max1 [64, 65536]
  %low = sub %wide, %max2
  %exp = exp %low
  %sum = reduce.sum %exp [1]
  %sum1 = view.reshape %sum [64, 1]
  %sum2 = view.expand %sum1 [64, 65536]
  %quotient = div %exp, %sum2
  %p = cast.bf16 %quotient
  return p = %p
}
----
k0_cast_f32_max_sub_exp_and_3
  p0: x bf16[4194304] Read
  p1: %11 bf16[4194304] Write
struct k_cast_f32_max_sub_exp_and_3_words { u64 w[3]; };
extern "C" __global__ void __launch_bounds__(256) k_cast_f32_max_sub_exp_and_3(const __grid_constant__ k_cast_f32_max_sub_exp_and_3_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[2]; const u32 block = blockIdx.x;
bf16* p0 = (bf16*)w[0];
bf16* p1 = (bf16*)w[1];
constexpr int V = 8;
__shared__ Softmax<float> m0[1 * 64];
__shared__ u64 b0[1];
if (threadIdx.x == 0) for (int i = 0; i < 1; ++i) meeting_begun(b0 + i, 64 * sizeof(Softmax<float>));
cluster_arrive();
const int x = 0, g = (int)(block % 8) * 256 + (int)threadIdx.x, r = 0;
int q = (int)(block / 8) * 1 + x;
int a0 = q;
_Pragma("unroll 4") for (int i = 0, k = g; k < 8192; ++i, k += 2048) { {
int a1 = k * V;
copy_ahead(slot<bf16, V>(0, i * 256 + (int)threadIdx.x), p0, (a0 * 65536 + a1));
} }
copies_begun(); copies_done<0>();
cluster_wait();
Softmax<float> y2;
y2 = Softmax<float>::none();
_Pragma("unroll 4") for (int i = 0, k = g; k < 8192; ++i, k += 2048) { {
int a1 = k * V;
const Vec<bf16, V> r0 = *slot<bf16, V>(0, i * 256 + (int)threadIdx.x);
float v0[V]; unpack(v0, r0);
float v1[V]; LANES(j) v1[j] = (float)v0[j];
add_all<V>(y2, v1);
} }
 { warps_to_cluster<8, 256>(y2, m0, b0); y2 = from_cluster<64>(m0, b0, 0); }
float v2a = (float)y2.a;
float v2b = below_greatest(y2);
_Pragma("unroll 4") for (int i = 0, k = g; k < 8192; ++i, k += 2048) { {
int a1 = k * V;
const Vec<bf16, V> r0 = *slot<bf16, V>(0, i * 256 + (int)threadIdx.x);
float v0[V]; unpack(v0, r0);
float v1[V]; LANES(j) v1[j] = (float)v0[j];
float v3[V]; LANES(j) v3[j] = (v1[j] - v2a);
float v4[V]; LANES(j) v4[j] = s_exp(v3[j]);
float v6[V]; quotients(v6, v4, divisor(v2b));
store<bf16, V>(p1, (a0 * 65536 + a1), packed<bf16>(v6));
} }
}
launch k_cast_f32_max_sub_exp_and_3 <512 x 256> in clusters of 8 with 16384 bytes shared args [0, 1] numbers []
