test cuda
# running sums along rows
func cumsum(x: f32[512, 1024]) -> (y) {
  %y = scan.sum %x [1]
  return y = %y
}
----
k0_scan_sum
  p0: x f32[524288] Read
  p1: %1 f32[524288] Write
struct k_scan_sum_words { u64 w[3]; };
extern "C" __global__ void __launch_bounds__(512) k_scan_sum(const __grid_constant__ k_scan_sum_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[2]; const u32 block = blockIdx.x;
float* p0 = (float*)w[0];
float* p1 = (float*)w[1];
constexpr int V = 1;
union alignas(16) Scratch { char one[16]; char s0[sizeof(Sum<float>) * 512]; };
__shared__ Scratch scratch[1];
const int x = (int)threadIdx.x / 512, g = (int)threadIdx.x % 512, r = 0;
int q = (int)block * 1 + x;
int a0 = q;
{
Sum<float> y1;
y1 = Sum<float>::none();
for (int base = 0; base < 1024; base += 512) { int k = base + g; const bool within_row = k < 1024; if (!within_row) k = 1024 - 1;
int a1 = k;
Vec<float, 1> r0;
r0 = load<float, 1>(p0, (a0 * 1024 + a1));
float v0 = up(r0.x[0]);
Sum<float> e1 = Sum<float>::none(); if (within_row) e1.add(v0);
e1 = scan_across<512, 512>(e1, y1, scratch);
float v1a = (float)e1.a;
if (within_row) p1[(a0 * 1024 + a1)] = Down<float>::of(v1a);
} }
}
launch k_scan_sum <512 x 512> args [0, 1] numbers []
