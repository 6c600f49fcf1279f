test cuda
# windows with padding, whose loads are guarded
func max_pool(x: f32[8, 64, 56, 56]) -> (y) {
  %p = view.pad %x lo [0, 0, 1, 1] hi [0, 0, 1, 1] interior [0, 0, 0, 0] value -inf
  %a = view.window %p axis 2 stride 2 dilation 1 size 3
  %b = view.window %a axis 3 stride 2 dilation 1 size 3
  %y = reduce.max %b [4, 5]
  return y = %y
}
----
k0_max
  p0: x f32[1605632] Read
  p1: %4 f32[401408] Write
struct k_max_words { u64 w[3]; };
extern "C" __global__ void __launch_bounds__(128) k_max(const __grid_constant__ k_max_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[2]; const u32 block = blockIdx.x;
float* p0 = (float*)w[0];
float* p1 = (float*)w[1];
constexpr int V = 1;
const int x = (int)threadIdx.x / 8, g = (int)threadIdx.x % 8, r = 0;
int q = (int)block * 16 + x;
int a3 = (int)((u32)q % (u32)28);
int q_2 = (int)((u32)q / (u32)28);
int a2 = (int)((u32)q_2 % (u32)28);
int q_1 = (int)((u32)q_2 / (u32)28);
int a1 = q_1;
Max<float> y1;
y1 = Max<float>::none();
_Pragma("unroll 4") for (int k = g; k < 9; k += 8) { {
int a5 = (int)((u32)k % (u32)3);
int k_1 = (int)((u32)k / (u32)3);
int a4 = k_1;
Vec<float, 1> r0;
if (within((a2 * 2 + a4 + -1), 56) && within((a3 * 2 + a5 + -1), 56)) r0 = load<float, 1>(p0, (a1 * 3136 + a2 * 112 + a3 * 2 + a4 * 56 + a5 + -57)); else { r0.x[0] = Down<float>::of(__int_as_float(0xff800000)); }
float v0 = up(r0.x[0]);
y1.add(v0);
} }
y1 = across_warp<8>(y1);
float v1a = (float)y1.a;
if (g == 0) p1[(a1 * 784 + a2 * 28 + a3)] = Down<float>::of(v1a);
}
launch k_max <25088 x 128> args [0, 1] numbers []
