test cuda
# convolutions no
func conv(x: f16[2, 8, 6, 6], w: frozen f16[4, 8, 3, 3]) -> (y) {
  %p = view.pad %x lo [0, 0, 1, 1] hi [0, 0, 1, 1] interior [0, 0, 0, 0] value 0.0
  %a = view.window %p axis 2 stride 1 dilation 1 size 3
  %b = view.window %a axis 3 stride 1 dilation 1 size 3
  %y = contract %b, %w "abcdef,gbef->agcd" acc f32
  return y = %y
}
----
k0_contract
  p0: x f16[576] Read
  p1: w f16[288] Read
  p2: %5 f16[288] Write
struct k_contract_words { u64 w[4]; };
extern "C" __global__ void __launch_bounds__(32) k_contract(const __grid_constant__ k_contract_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[3]; const u32 block = blockIdx.x;
f16* p0 = (f16*)w[0];
f16* p1 = (f16*)w[1];
f16* p2 = (f16*)w[2];
constexpr int V = 2;
const int x = (int)threadIdx.x % 1, g = (int)threadIdx.x / 1 % 32, r = (int)threadIdx.x / 32;
int q = (int)block * 1 + x;
int a3 = (int)((u32)q % (u32)3) * V;
int q_3 = (int)((u32)q / (u32)3);
int a2 = (int)((u32)q_3 % (u32)6);
int q_2 = (int)((u32)q_3 / (u32)6);
int a1 = (int)((u32)q_2 % (u32)4);
int q_1 = (int)((u32)q_2 / (u32)4);
int a0 = q_1;
Sum<float> y2[V];
UNROLL for (int j = 0; j < V; ++j) y2[j] = Sum<float>::none();
_Pragma("unroll 4") for (int k = g; k < 72; k += 32) { {
int a6 = (int)((u32)k % (u32)3);
int k_2 = (int)((u32)k / (u32)3);
int a5 = (int)((u32)k_2 % (u32)3);
int k_1 = (int)((u32)k_2 / (u32)3);
int a4 = k_1;
Vec<f16, V> r0;
LANES(j) r0.x[j] = (within((a2 + a5 + -1), 6) && within(((a3 + j) + a6 + -1), 6)) ? p0[(a0 * 288 + a2 * 6 + (a3 + j) + a4 * 36 + a5 * 6 + a6 + -7)] : Down<f16>::of(0.0f);
float v0[V]; unpack(v0, r0);
Vec<f16, 1> r1;
r1 = load<f16, 1>(p1, (a1 * 72 + a4 * 9 + a5 * 3 + a6));
float v1 = up(r1.x[0]);
LANES(j) y2[j].add((float)(((float)v0[j]) * ((float)v1)));
} }
LANES(j) y2[j] = across_warp<32>(y2[j]);
float v2a[V]; LANES(j) v2a[j] = round_f16((float)y2[j].a);
if (g == 0) store<f16, V>(p2, (a0 * 144 + a1 * 36 + a2 * 6 + a3), packed<f16>(v2a));
}
launch k_contract <144 x 32> args [0, 1, 2] numbers []
