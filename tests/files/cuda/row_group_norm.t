test cuda
# one of the loads varies over part of the row: it is read again, the other waits
func group_norm(x: f32[64, 32, 1024], b: f32[32]) -> (y) {
  %b1 = view.reshape %b [1, 32, 1]
  %b2 = view.expand %b1 [64, 32, 1024]
  %xb = add %x, %b2
  %sum = reduce.sum %xb [1, 2]
  %sum1 = view.reshape %sum [64, 1, 1]
  %sum2 = view.expand %sum1 [64, 32, 1024]
  %y = sub %xb, %sum2
  return y = %y
}
----
k0_add_sum_sub
  p0: x f32[2097152] Read
  p1: b f32[32] Read
  p2: %8 f32[2097152] Write
struct k_add_sum_sub_words { u64 w[4]; };
extern "C" __global__ void __launch_bounds__(256) k_add_sum_sub(const __grid_constant__ k_add_sum_sub_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[3]; const u32 block = blockIdx.x;
float* p0 = (float*)w[0];
float* p1 = (float*)w[1];
float* p2 = (float*)w[2];
constexpr int V = 4;
__shared__ Sum<float> m0[1 * 32];
__shared__ u64 b0[1];
if (threadIdx.x == 0) for (int i = 0; i < 1; ++i) meeting_begun(b0 + i, 32 * sizeof(Sum<float>));
cluster_arrive();
const int x = 0, g = (int)(block % 4) * 256 + (int)threadIdx.x, r = 0;
int q = (int)(block / 4) * 1 + x;
int a0 = q;
_Pragma("unroll 4") for (int i = 0, k = g; k < 8192; ++i, k += 1024) { {
int a2 = (int)((u32)k % (u32)256) * V;
int k_1 = (int)((u32)k / (u32)256);
int a1 = k_1;
copy_ahead(slot<float, V>(0, i * 256 + (int)threadIdx.x), p0, (a0 * 32768 + a1 * 1024 + a2));
} }
copies_begun(); copies_done<0>();
cluster_wait();
Sum<float> y3;
y3 = Sum<float>::none();
_Pragma("unroll 4") for (int i = 0, k = g; k < 8192; ++i, k += 1024) { {
int a2 = (int)((u32)k % (u32)256) * V;
int k_1 = (int)((u32)k / (u32)256);
int a1 = k_1;
const Vec<float, V> r0 = *slot<float, V>(0, i * 256 + (int)threadIdx.x);
float v0[V]; unpack(v0, r0);
Vec<float, 1> r1;
r1 = load<float, 1>(p1, (a1));
float v1 = up(r1.x[0]);
float v2[V]; LANES(j) v2[j] = (v0[j] + v1);
add_all<V>(y3, v2);
} }
 { warps_to_cluster<4, 256>(y3, m0, b0); y3 = from_cluster<32>(m0, b0, 0); }
float v3a = (float)y3.a;
_Pragma("unroll 4") for (int i = 0, k = g; k < 8192; ++i, k += 1024) { {
int a2 = (int)((u32)k % (u32)256) * V;
int k_1 = (int)((u32)k / (u32)256);
int a1 = k_1;
const Vec<float, V> r0 = *slot<float, V>(0, i * 256 + (int)threadIdx.x);
float v0[V]; unpack(v0, r0);
Vec<float, 1> r1;
r1 = load<float, 1>(p1, (a1));
float v1 = up(r1.x[0]);
float v2[V]; LANES(j) v2[j] = (v0[j] + v1);
float v4[V]; LANES(j) v4[j] = (v2[j] - v3a);
store<float, V>(p2, (a0 * 32768 + a1 * 1024 + a2), packed<float>(v4));
} }
}
launch k_add_sum_sub <256 x 256> in clusters of 4 with 32768 bytes shared args [0, 1, 2] numbers []
