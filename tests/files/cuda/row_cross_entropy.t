test cuda
# a cluster holds each row; positions are compared with the target once per chunk
# numerics wide
func cross_entropy_gradient(logits: bf16[64, 40000], target: i64[64]) -> (loss, dlogits) {
  %2 = cast.f32 %0 : f32[64, 40000]   # cross_entropy
  %3 = reduce.max %2 [1] : f32[64]   # cross_entropy
  %4 = view.reshape %3 [64, 1] : f32[64, 1]   # cross_entropy
  %5 = view.expand %4 [64, 40000] : f32[64, 40000]   # cross_entropy
  %6 = sub %2, %5 : f32[64, 40000]   # cross_entropy
  %7 = exp %6 : f32[64, 40000]   # cross_entropy
  %8 = reduce.sum %7 [1] : f32[64]   # cross_entropy
  %9 = view.reshape %8 [64, 1] : f32[64, 1]   # cross_entropy
  %10 = log %9 : f32[64, 1]   # cross_entropy
  %11 = view.expand %10 [64, 40000] : f32[64, 40000]   # cross_entropy
  %12 = sub %6, %11 : f32[64, 40000]   # cross_entropy
  %13 = view.reshape %1 [64, 1] : i64[64, 1]   # cross_entropy
  %14 = gather %12, %13 [1] : f32[64, 1]   # cross_entropy
  %15 = view.reshape %14 [64] : f32[64]   # cross_entropy
  %16 = neg %15 : f32[64]   # cross_entropy
  %17 = reduce.sum %16 [0] : f32[]   # cross_entropy
  %18 = const f32 64.0 : f32[]   # cross_entropy
  %19 = div %17, %18 : f32[]   # cross_entropy
  %20 = exp %12 : f32[64, 40000]   # cross_entropy
  %21 = iota 40000 : i64[40000]   # cross_entropy
  %22 = view.expand %13 [64, 40000] : i64[64, 40000]   # cross_entropy
  %23 = view.reshape %21 [1, 40000] : i64[1, 40000]   # cross_entropy
  %24 = view.expand %23 [64, 40000] : i64[64, 40000]   # cross_entropy
  %25 = eq %22, %24 : bool[64, 40000]   # cross_entropy
  %26 = cast.f32 %25 : f32[64, 40000]   # cross_entropy
  %27 = sub %20, %26 : f32[64, 40000]   # cross_entropy
  %28 = const f32 0.015625 : f32[]   # cross_entropy
  %29 = view.reshape %28 [1, 1] : f32[1, 1]   # cross_entropy
  %30 = view.expand %29 [64, 40000] : f32[64, 40000]   # cross_entropy
  %31 = mul %27, %30 : f32[64, 40000]   # cross_entropy
  %32 = cast.bf16 %31 : bf16[64, 40000]   # cross_entropy
  return loss = %19, dlogits = %32
}
----
k0_cross_entropy
  p0: target i64[64] Read
  p1: logits bf16[2560000] Read
  p2: %19 f32[1] Write
  p3: %31 bf16[2560000] Write
  p4: partial4 f32[64] ReadWrite
struct k_cross_entropy_words { u64 w[5]; };
extern "C" __global__ void __launch_bounds__(256) k_cross_entropy(const __grid_constant__ k_cross_entropy_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[4]; const u32 block = blockIdx.x;
bf16* p1 = (bf16*)w[0];
i64* p0 = (i64*)w[1];
bf16* p3 = (bf16*)w[2];
float* p4 = (float*)w[3];
constexpr int V = 8;
__shared__ Softmax<float> m0[2 * 64];
__shared__ u64 b0[2];
if (threadIdx.x == 0) for (int i = 0; i < 2; ++i) meeting_begun(b0 + i, 64 * sizeof(Softmax<float>));
cluster_arrive();
const int x = 0, g = (int)(block % 8) * 256 + (int)threadIdx.x, r = 0;
int a2 = (u32)(block / 8) / (u32)1;
int q = (int)((u32)(block / 8) % (u32)1) * 1 + x;
Sum<float> y14;
y14 = Sum<float>::none();
const int low = a2 * 1, high = least_of<int>(low + 1, 64);
const int steps = (high - low) * 1;
int turn = 0;
for (int step = 0; step < steps; step += 1) {
const int now = step;
int a0 = (low + now / 1);
_Pragma("unroll 4") for (int i = 0, k = g; k < 5000; ++i, k += 2048) { {
int a1 = k * V;
copy_ahead(slot<bf16, V>(0, i * 256 + (int)threadIdx.x), p1, (a0 * 40000 + a1));
} }
copies_begun(); copies_done<0>();
cluster_wait();
Vec<i64, 1> r0;
r0 = load<i64, 1>(p0, (a0));
i64 v0 = up(r0.x[0]);
i64 v1 = check(v0, 40000, true, fault, 1ull);
Vec<bf16, 1> r2;
r2 = load<bf16, 1>(p1, (a0 * 40000 + v1));
float v2 = up(r2.x[0]);
float v3 = (float)v2;
Softmax<float> y6;
y6 = Softmax<float>::none();
_Pragma("unroll 4") for (int i = 0, k = g; k < 5000; ++i, k += 2048) { {
int a1 = k * V;
const Vec<bf16, V> r4 = *slot<bf16, V>(0, i * 256 + (int)threadIdx.x);
float v4[V]; unpack(v4, r4);
float v5[V]; LANES(j) v5[j] = (float)v4[j];
add_all<V>(y6, v5);
} }
 { warps_to_cluster<8, 256>(y6, m0 + turn * 64, b0 + turn); y6 = from_cluster<64>(m0 + turn * 64, b0 + turn, (step >> 1) & 1); }
float v6a = (float)y6.a;
float v6b = below_greatest(y6);
float v7 = (v3 - v6a);
float v11 = s_log(v6b);
float v12 = (v7 - v11);
float v13 = (-v12);
{ {
y14.add(v13);
} }
_Pragma("unroll 4") for (int i = 0, k = g; k < 5000; ++i, k += 2048) { {
int a1 = k * V;
const Vec<bf16, V> r4 = *slot<bf16, V>(0, i * 256 + (int)threadIdx.x);
float v4[V]; unpack(v4, r4);
float v5[V]; LANES(j) v5[j] = (float)v4[j];
float v8[V]; LANES(j) v8[j] = (v5[j] - v6a);
float v18[V]; LANES(j) v18[j] = exp_less(v8[j], v11);
const auto rest20 = [&](const u32 l20) {
bool v20[V]; LANES(j) v20[j] = (l20 == j);
float v21[V]; LANES(j) v21[j] = (float)v20[j];
float v22[V]; LANES(j) v22[j] = (v18[j] - v21[j]);
float v23[V]; LANES(j) v23[j] = (v22[j] * 0.015625f);
store<bf16, V>(p3, (a0 * 40000 + a1), packed<bf16>(v23));
};
if (const u32 l20 = lane_of<V>(v0, (a1)); l20 < V) rest20(l20); else rest20(V);
} }
turn ^= 1; }
if (true && g == 0) {
p4[(a2)] = Down<float>::of(y14.a);
}
}
struct k_cross_entropy_finish_words { u64 w[3]; };
extern "C" __global__ void __launch_bounds__(32) k_cross_entropy_finish(const __grid_constant__ k_cross_entropy_finish_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[2]; const u32 block = blockIdx.x;
float* p4 = (float*)w[0];
float* p2 = (float*)w[1];
constexpr int V = 8;
const int x = (int)threadIdx.x / 32, g = (int)threadIdx.x % 32, r = 0;
int q = (int)block * 1 + x;
Sum<float> y14;
y14 = Sum<float>::none();
_Pragma("unroll 4") for (int k = g; k < 64; k += 32) { {
int a2 = k;
{ Sum<float> o; o.a = up(p4[(a2)]); y14.merge(o); }
} }
y14 = across_warp<32>(y14);
float v14a = (float)y14.a;
float v16 = (v14a * 0.015625f);
if (g == 0) p2[(0)] = Down<float>::of(v16);
}
launch k_cross_entropy <512 x 256> in clusters of 8 with 12288 bytes shared args [1, 0, 3, 4] numbers []
launch k_cross_entropy_finish <1 x 32> args [4, 2] numbers []
