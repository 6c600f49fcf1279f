test cuda
# groups = channels, and what follows is a kernel of its own
func depthwise(x: f16[8, 64, 28, 28], w: frozen f16[64, 1, 3, 3]) -> (y) {
  %p = view.pad %x lo [0, 0, 1, 1] hi [0, 0, 1, 1] interior [0, 0, 0, 0] value 0.0
  %a = view.window %p axis 2 stride 1 dilation 1 size 3
  %b = view.window %a axis 3 stride 1 dilation 1 size 3
  %v = view.reshape %w [64, 3, 3]
  %z = contract %b, %v "abefhi,bhi->abef" acc f32
  %y = tanh %z
  return y = %y
}
----
k0_contract
  p0: x f16[401408] Read
  p1: w f16[576] Read
  p2: %6 f16[401408] Write
convolution in f32, 64 groups, windows 1/1 pad 1+1 1/1 pad 1+1: y f16 p2[8, 64, 28, 28] by [50176, 784, 28, 1] = x f16 p0[8, 64, 28, 28] by [50176, 784, 28, 1] * w f16 p1[64, 1, 3, 3] by [9, 9, 3, 1]

k1_tanh
  p0: %6 f16[401408] Read
  p1: %7 f16[401408] Write
struct k_tanh_words { u64 w[3]; };
extern "C" __global__ void __launch_bounds__(256) k_tanh(const __grid_constant__ k_tanh_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[2]; const u32 block = blockIdx.x;
f16* p0 = (f16*)w[0];
f16* p1 = (f16*)w[1];
constexpr int V = 8;
const int x = (int)threadIdx.x % 256, g = (int)threadIdx.x / 256 % 1, r = (int)threadIdx.x / 256;
int q = (int)block * 256 + x;
int a3 = q * V;
Vec<f16, V> r0;
r0 = load<f16, V>(p0, (a3));
float v0[V]; unpack(v0, r0);
float v1[V]; LANES(j) v1[j] = round_f16(s_tanh(v0[j]));
store<f16, V>(p1, (a3), packed<f16>(v1));
}
launch k_tanh <196 x 256> args [0, 1] numbers []
