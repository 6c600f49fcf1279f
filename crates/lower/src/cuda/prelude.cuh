#define LANES(j) UNROLL for (int j = 0; j < V; ++j)

// The 8-bit floats: bits of mantissa, bias of the exponent, and the code after the largest finite one. What the hardware
// converts saturates, so these do it themselves.
struct f8e4m3 { unsigned char b; static constexpr u32 mantissa = 3, bias = 7, overflow = 0x7f; };
struct f8e5m2 { unsigned char b; static constexpr u32 mantissa = 2, bias = 15, overflow = 0x7c; };
template<class T> DEV T f8_of(float x) {
    const u32 magnitude = __float_as_uint(x) & 0x7fffffffu;
    constexpr u32 dropped = 23 - T::mantissa, quantum = (127 + 24 - T::bias - T::mantissa) << 23;
    u32 code = ((magnitude + (1u << (dropped - 1)) - 1 + ((magnitude >> dropped) & 1)) >> dropped) - ((127 - T::bias) << T::mantissa);
    code = code < T::overflow ? code : T::overflow;
    if (magnitude < (128 - T::bias) << 23) code = __float_as_uint(__uint_as_float(magnitude) + __uint_as_float(quantum)) - quantum;
    if (magnitude > 0x7f800000u) code = 0x7f;
    T r; r.b = (unsigned char)(code | (__float_as_uint(x) >> 24 & 0x80)); return r;
}
template<class T> DEV float f8_up(T x) {
    const u32 magnitude = x.b & 0x7f, sign = (u32)(x.b & 0x80) << 24;
    const float finite = __uint_as_float(magnitude << (23 - T::mantissa)) * __uint_as_float((254 - T::bias) << 23);
    const u32 special = magnitude == T::overflow && magnitude != 0x7f ? 0x7f800000u : 0x7fc00000u;
    return __uint_as_float((magnitude < T::overflow ? __float_as_uint(finite) : special) | sign);
}
DEV float up(f8e4m3 x) { return f8_up(x); }
DEV float up(f8e5m2 x) { return f8_up(x); }

// Registers hold float for floats of at most 16 bits, bool for b8.
template<class T> struct Register { typedef T type; };
template<> struct Register<b8> { typedef bool type; };
template<> struct Register<f8e4m3> { typedef float type; };
template<> struct Register<f8e5m2> { typedef float type; };
template<> struct Register<f16> { typedef float type; };
template<> struct Register<bf16> { typedef float type; };

DEV float up(bf16 x) { return __uint_as_float((u32)x.b << 16); }
DEV float low_half(bf16, u32 x) { return __uint_as_float(x << 16); }
DEV float high_half(bf16, u32 x) { return __uint_as_float(x & 0xffff0000u); }
DEV bool up(b8 x) { return x.b != 0; }
template<class T> DEV T up(T x) { return x; }

template<class T> struct Down { template<class R> static DEV T of(R x) { return (T)x; } };
template<> struct Down<b8> { static DEV b8 of(bool x) { b8 r; r.b = x; return r; } };
template<> struct Down<f16> { static DEV f16 of(float x) { f16 r; r.b = (unsigned short)pair(f16(), x, 0.0f); return r; } };
template<> struct Down<bf16> { static DEV bf16 of(float x) { bf16 r; r.b = (unsigned short)pair(bf16(), x, 0.0f); return r; } };
template<> struct Down<f8e4m3> { static DEV f8e4m3 of(float x) { return f8_of<f8e4m3>(x); } };
template<> struct Down<f8e5m2> { static DEV f8e5m2 of(float x) { return f8_of<f8e5m2>(x); } };
DEV float round_f8e4m3(float x) { return up(f8_of<f8e4m3>(x)); }
DEV float round_f8e5m2(float x) { return up(f8_of<f8e5m2>(x)); }
DEV float round_f16(float x) { return up(Down<f16>::of(x)); }
DEV float round_bf16(float x) { return __uint_as_float(pair(bf16(), 0.0f, x)); }

constexpr int alignment(int bytes) { return bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : bytes % 2 == 0 ? 2 : 1; }
// V adjacent stored elements, read and written in accesses of up to 16 bytes.
template<class T, int V> struct alignas(alignment(sizeof(T) * V)) Vec { T x[V]; };
template<class T, int V, class P> DEV Vec<T, V> load(const T* base, P at) { return *reinterpret_cast<const Vec<T, V>*>(base + at); }
template<class T, int V, class P> DEV void store(T* base, P at, const Vec<T, V>& v) { *reinterpret_cast<Vec<T, V>*>(base + at) = v; }

// A slot of a thread: `at` is the byte where a load's slots begin.
template<class T, int V> DEV Vec<T, V>* slot(int at, int i) {
    return reinterpret_cast<Vec<T, V>*>(reinterpret_cast<char*>(slots) + at) + i;
}
template<class T, int V, class P> DEV void copy_ahead(Vec<T, V>* to, const T* base, P at) {
    copy_bytes<V * (int)sizeof(T)>(to, base + at);
}

// Stored elements of registers, and the reverse; two f16 or bf16 at once.
template<class T> struct Packs { static constexpr bool pairs = false; };
template<> struct Packs<f16> { static constexpr bool pairs = true; };
template<> struct Packs<bf16> { static constexpr bool pairs = true; };
template<class T, int V, class R> DEV Vec<T, V> packed(const R (&x)[V]) {
    Vec<T, V> r;
    if constexpr (Packs<T>::pairs && V % 2 == 0) {
        UNROLL for (int i = 0; i < V / 2; ++i) reinterpret_cast<u32*>(&r)[i] = pair(T(), x[2 * i], x[2 * i + 1]);
    } else {
        UNROLL for (int i = 0; i < V; ++i) r.x[i] = Down<T>::of(x[i]);
    }
    return r;
}
template<class T, int V, class R> DEV void unpack(R (&x)[V], const Vec<T, V>& r) {
    if constexpr (Packs<T>::pairs && V % 2 == 0) {
        UNROLL for (int i = 0; i < V / 2; ++i) {
            const u32 both = reinterpret_cast<const u32*>(&r)[i];
            x[2 * i] = low_half(T(), both); x[2 * i + 1] = high_half(T(), both);
        }
    } else {
        LANES(j) x[j] = up(r.x[j]);
    }
}

template<class T, int V, class R> DEV Vec<T, V> filled(R x) {
    Vec<T, V> r;
    LANES(j) r.x[j] = Down<T>::of(x);
    return r;
}

// Writes N elements to a tile's row, two of 16 bits or four of 8 at once.
template<class T, int N> DEV void turn_in(T* to, const Vec<T, N>& from) {
    constexpr int each = 4 / (int)sizeof(T);
    if constexpr (each > 1 && N % each == 0) {
        UNROLL for (int i = 0; i < N / each; ++i) reinterpret_cast<u32*>(to)[i] = reinterpret_cast<const u32*>(&from)[i];
    } else {
        UNROLL for (int i = 0; i < N; ++i) to[i] = from.x[i];
    }
}

template<class I> DEV bool within(I x, i64 n) { return x >= 0 && (i64)x < n; }
DEV i64 floor_div(i64 a, i64 b) { i64 q = a / b; return q - (a % b != 0 && ((a % b < 0) != (b < 0))); }
DEV i64 floor_mod(i64 a, i64 b) { i64 r = a % b; return r + (r != 0 && ((r < 0) != (b < 0)) ? b : 0); }
template<class I> DEV I least_of(I a, I b) { return a < b ? a : b; }
template<class I> DEV I most_of(I a, I b) { return a > b ? a : b; }

// Where x is among V numbers from `first` on, or V and more. Positions that fit an int are below 2^30 and above -2^30.
template<int V> DEV u32 lane_of(i64 x, int first) { return (x == (int)x ? (u32)x : 1u << 31) - (u32)first; }
template<int V> DEV u32 lane_of(i64 x, i64 first) { return (u64)(x - first) < V ? (u32)(x - first) : V; }

// An index in 0..limit, clamped; the first one outside is reported by number.
DEV i64 check(i64 x, i64 limit, bool when, u64* fault, u64 number) {
    if (x >= 0 && x < limit) return x;
    if (when) atomicCAS(fault, 0ull, number);
    return x < 0 || limit <= 0 ? 0 : limit - 1;
}

// Scalar operations, as the table of scalar ops defines them.
DEV bool is_nan(float x) { return x != x; }
DEV bool is_nan(double x) { return x != x; }
template<class T> DEV bool is_nan(T) { return false; }
DEV bool is_inf(float x) { return fabsf(x) == __int_as_float(0x7f800000); }
DEV bool is_inf(double x) { return fabs(x) == __longlong_as_double(0x7ff0000000000000ll); }
template<class T> DEV T s_max(T a, T b) { return is_nan(a) || is_nan(b) ? a + b : a < b ? b : a; }
template<class T> DEV T greater(T a, T b) { return is_nan(a) || is_nan(b) ? a + b : a < b ? b : a; }
template<class T> DEV T lesser(T a, T b) { return is_nan(a) || is_nan(b) ? a + b : b < a ? b : a; }
#ifdef WIDE
DEV float s_max(float a, float b) { return greater(a, b); }
DEV float s_min(float a, float b) { return lesser(a, b); }
#else
DEV float s_max(float a, float b) { float r = !(a >= b) ? b : a; return a != a ? a : r; }
DEV float s_min(float a, float b) { float r = !(a <= b) ? b : a; return a != a ? a : r; }
#endif
template<class T> DEV T s_min(T a, T b) { return is_nan(a) || is_nan(b) ? a + b : b < a ? b : a; }
template<class T> DEV T s_sign(T x) { return is_nan(x) ? x : (T)((x > (T)0) - (x < (T)0)); }
template<class T> DEV T s_abs(T x) { return x < (T)0 ? (T)(0 - x) : x; }
DEV float s_abs(float x) { return fabsf(x); }
DEV double s_abs(double x) { return fabs(x); }
#define BOTH(name, f32, f64) DEV float name(float x) { return f32(x); } DEV double name(double x) { return f64(x); }
DEV float recip_f32(float x) { return __frcp_rn(x); }
DEV double recip_f64(double x) { return 1.0 / x; }
DEV float rsqrt_f32(float x) { return __frcp_rn(__fsqrt_rn(x)); }
DEV double rsqrt_f64(double x) { return 1.0 / sqrt(x); }
BOTH(s_sqrt, __fsqrt_rn, sqrt) BOTH(s_rsqrt, rsqrt_f32, rsqrt_f64) BOTH(s_recip, recip_f32, recip_f64)
BOTH(s_expm1, expm1f, expm1) BOTH(s_log, logf, log) BOTH(s_log2, log2f, log2) BOTH(s_log1p, log1pf, log1p)
BOTH(s_sin, sinf, sin) BOTH(s_cos, cosf, cos) BOTH(s_tan, tanf, tan) BOTH(s_asin, asinf, asin) BOTH(s_acos, acosf, acos)
BOTH(s_atan, atanf, atan) BOTH(s_sinh, sinhf, sinh) BOTH(s_cosh, coshf, cosh) BOTH(s_asinh, asinhf, asinh)
BOTH(s_acosh, acoshf, acosh) BOTH(s_atanh, atanhf, atanh) BOTH(s_floor, floorf, floor) BOTH(s_ceil, ceilf, ceil)
BOTH(s_trunc, truncf, trunc) BOTH(s_round, rintf, rint)
#ifdef WIDE
DEV float exp_f32(float x) { return ex2(x * 1.4426950408889634f); }
// exp(x - b) for a logarithm b: as it is below 2^7, so is what the contraction leaves of its rounding.
DEV float exp_less(float x, float b) { return ex2(fmaf(x, 1.4426950408889634f, b * -1.4426950408889634f)); }
DEV float tanh_f32(float x) {
    float t = fmaf(-2.0f, rcp(1.0f + ex2(fabsf(x) * 2.8853900817779268f)), 1.0f);
    float small = fmaf(x * x * x, -0.33333333f, x);
    return fabsf(x) < 0.03f ? small : copysignf(t, x);
}
// Abramowitz and Stegun 7.1.26: absolute error below 1.5e-7.
DEV float erf_f32(float x) {
    float a = fabsf(x), t = rcp(fmaf(0.3275911f, a, 1.0f));
    float p = fmaf(fmaf(fmaf(fmaf(1.061405429f, t, -1.453152027f), t, 1.421413741f), t, -0.284496736f), t, 0.254829592f) * t;
    return copysignf(fmaf(-p, ex2(a * a * -1.4426950408889634f), 1.0f), x);
}
DEV float sigmoid_f32(float x) { return rcp(1.0f + ex2(x * -1.4426950408889634f)); }
DEV float s_div(float a, float b) { return __fdividef(a, b); }
#else
DEV float exp_f32(float x) { return expf(x); }
DEV float tanh_f32(float x) { return tanhf(x); }
DEV float erf_f32(float x) { return erff(x); }
DEV float sigmoid_f32(float x) { return x >= 0 ? 1.0f / (1.0f + expf(-x)) : expf(x) / (1.0f + expf(x)); }
DEV float s_div(float a, float b) { return __fdiv_rn(a, b); }
#endif
// A divisor of many: its reciprocal once, then quotients as exact as the division's.
struct Divisor { float b, r; bool fast; };
DEV Divisor divisor(float b) {
    Divisor d; d.b = b; d.r = __frcp_rn(b); d.fast = fabsf(b) > 0x1p-60f && fabsf(b) < 0x1p60f;
    return d;
}
DEV bool is_plain(float a) { return fabsf(a) > 0x1p-60f && fabsf(a) < 0x1p60f; }
template<int V> DEV void quotients(float (&q)[V], const float (&a)[V], const Divisor& d) {
#ifdef WIDE
    if (d.fast) LANES(j) q[j] = a[j] * d.r;
    else LANES(j) q[j] = __fdividef(a[j], d.b);
#else
    bool fast = d.fast;
    LANES(j) {
        float e = a[j] * d.r;
        e = fmaf(fmaf(-d.b, e, a[j]), d.r, e);
        q[j] = a[j] == 0 ? a[j] * d.r : fmaf(fmaf(-d.b, e, a[j]), d.r, e);
        fast = fast && (is_plain(a[j]) || a[j] == 0);
    }
    if (!fast) LANES(j) q[j] = __fdiv_rn(a[j], d.b);
#endif
}
DEV double sigmoid_f64(double x) { return x >= 0 ? 1.0 / (1.0 + exp(-x)) : exp(x) / (1.0 + exp(x)); }
BOTH(s_exp, exp_f32, exp) BOTH(s_exp2, exp2f, exp2) BOTH(s_tanh, tanh_f32, tanh) BOTH(s_erf, erf_f32, erf)
BOTH(s_sigmoid, sigmoid_f32, sigmoid_f64)
DEV double s_div(double a, double b) { return a / b; }
template<class T> DEV T s_div(T a, T b) { return b == 0 ? (T)0 : b == (T)-1 && (T)-1 < (T)0 ? (T)(0 - a) : (T)(a / b); }
DEV float s_rem(float a, float b) { return fmodf(a, b); }
DEV double s_rem(double a, double b) { return fmod(a, b); }
template<class T> DEV T s_rem(T a, T b) { return b == 0 || (b == (T)-1 && (T)-1 < (T)0) ? (T)0 : (T)(a % b); }
template<class T> DEV T s_mod(T a, T b) { T r = s_rem(a, b); return r != 0 && (b < 0) != (r < 0) ? (T)(r + b) : r; }
template<class F> DEV F floor_quotient(F a, F b) {
    if (b == 0) return a / b;
    F r = s_rem(a, b), q = (a - r) / b;
    if (r != 0 && (b < 0) != (r < 0)) q -= 1;
    if (q == 0) return copysign((F)0, a / b);
    F f = s_floor(q);
    return q - f > (F)0.5 ? f + 1 : f;
}
DEV float s_floordiv(float a, float b) { return floor_quotient(a, b); }
DEV double s_floordiv(double a, double b) { return floor_quotient(a, b); }
template<class T> DEV T s_floordiv(T a, T b) {
    if (b == 0) return 0;
    T q = s_div(a, b), r = s_rem(a, b);
    return r != 0 && (r < 0) != (b < 0) ? (T)(q - 1) : q;
}
DEV float s_pow(float a, float b) { return powf(a, b); }
DEV double s_pow(double a, double b) { return pow(a, b); }
template<class T> DEV T s_pow(T a, T b) {
    if (b < 0) return a == 1 ? (T)1 : a == (T)-1 ? (b % 2 == 0 ? (T)1 : (T)-1) : (T)0;
    u64 square = (u64)a, r = 1;
    for (u64 n = (u64)b; n; n >>= 1) { if (n & 1) r *= square; square *= square; }
    return (T)r;
}
DEV float s_atan2(float a, float b) { return atan2f(a, b); }
DEV double s_atan2(double a, double b) { return atan2(a, b); }
template<class T> DEV T s_shl(T a, T b) { return b >= 0 && (u64)b < 8 * sizeof(T) ? (T)((u64)a << b) : (T)0; }
template<class T> DEV T s_shr(T a, T b) { return b >= 0 && (u64)b < 8 * sizeof(T) ? (T)(a >> b) : (T)(a < 0 ? -1 : 0); }
DEV float s_fma(float a, float b, float c) { return fmaf(a, b, c); }
DEV double s_fma(double a, double b, double c) { return fma(a, b, c); }
// Floats to integers truncate and saturate; NaN gives 0.
template<class I> DEV I to_int(double x) {
    if (is_nan(x)) return 0;
    constexpr bool is_signed = (I)-1 < (I)0;
    constexpr int bits = 8 * sizeof(I) - is_signed;
    const double most = bits == 64 ? 18446744073709551616.0 : (double)(1ull << (bits & 63));
    if (x >= most) return (I)(bits == 64 ? ~0ull : (1ull << (bits & 63)) - 1);
    if (is_signed ? x <= -most : x <= 0) return is_signed ? (I)(1ull << (bits & 63)) : (I)0;
    return (I)x;
}
DEV u32 philox(u64 key, u64 counter, u32 stream) {
    u32 k0 = (u32)key, k1 = (u32)(key >> 32);
    u64 block = counter >> 2;
    u32 c0 = (u32)block, c1 = (u32)(block >> 32), c2 = stream, c3 = 0;
    UNROLL for (int i = 0; i < 10; ++i) {
        u32 h0 = __umulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0, h1 = __umulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
        c0 = h1 ^ c1 ^ k0; c1 = l1; c2 = h0 ^ c3 ^ k1; c3 = l0;
        k0 += 0x9E3779B9u; k1 += 0xBB67AE85u;
    }
    u32 word = (u32)counter & 3;
    return word == 0 ? c0 : word == 1 ? c1 : word == 2 ? c2 : c3;
}

// States of combiners: `none()` has no elements, `add` takes one, `merge` those of another state that come after.
template<class T> struct Limits;
#define LIMITS(T, lo, hi) template<> struct Limits<T> { static DEV T least() { return lo; } static DEV T greatest() { return hi; } };
LIMITS(float, __int_as_float(0xff800000), __int_as_float(0x7f800000))
LIMITS(double, __longlong_as_double(0xfff0000000000000ull), __longlong_as_double(0x7ff0000000000000ull))
LIMITS(bool, false, true) LIMITS(signed char, -128, 127) LIMITS(unsigned char, 0, 255) LIMITS(short, -32768, 32767)
LIMITS(unsigned short, 0, 65535) LIMITS(int, -2147483647 - 1, 2147483647) LIMITS(u32, 0, 4294967295u)
LIMITS(i64, -9223372036854775807ll - 1, 9223372036854775807ll) LIMITS(u64, 0, ~0ull)
#define SIMPLE(Name, start, expression) \
    template<class T> struct alignas(sizeof(T) < 4 ? 4 : sizeof(T)) Name { T a; \
        static DEV Name none() { Name s; s.a = start; return s; } \
        DEV void add(T b) { a = expression; } \
        DEV void merge(const Name& o) { add(o.a); } };
SIMPLE(Sum, (T)0, (T)(a + b)) SIMPLE(Prod, (T)1, (T)(a * b)) SIMPLE(Max, Limits<T>::least(), greater(a, b))
SIMPLE(Min, Limits<T>::greatest(), lesser(a, b)) SIMPLE(Any, false, a || b) SIMPLE(All, true, a && b)
template<class T, bool GREATEST> struct alignas(8) Arg { T a; i64 b;
    static DEV Arg none() { Arg s; s.a = GREATEST ? Limits<T>::least() : Limits<T>::greatest(); s.b = 0; return s; }
    DEV void add(T x, i64 at) {
        bool better = GREATEST ? x > a : x < a;
        bool wins = !is_nan(a) && (is_nan(x) || better);
        bool tied = is_nan(a) ? is_nan(x) : x == a;
        if (wins || (tied && at < b)) { a = x; b = at; }
    }
    DEV void merge(const Arg& o) { add(o.a, o.b); } };
template<class T> using ArgMax = Arg<T, true>;
template<class T> using ArgMin = Arg<T, false>;
// Chan, Golub and LeVeque (1979): mean, sum of squared deviations, count.
template<class T> struct alignas(sizeof(T)) Welford { T a, b, c;
    static DEV Welford none() { Welford s; s.a = s.b = s.c = 0; return s; }
    DEV void add(T x) { c += 1; T d = x - a; a += s_div(d, c); b += d * (x - a); }
    DEV void merge(const Welford& o) {
        T n = c + o.c, d = o.a - a, share = o.c == 0 ? (T)0 : s_div(o.c, n);
        a += d * share; b = b + o.b + d * d * (c * share); c = n;
    } };
DEV float shrink(float x, float m) { return x == m && x == Limits<float>::least() ? 1.0f : s_exp(x - m); }
DEV double shrink(double x, double m) { return x == m && x == Limits<double>::least() ? 1.0 : s_exp(x - m); }
template<class T> struct alignas(2 * sizeof(T)) MaxSum { T a, b;
    static DEV MaxSum none() { MaxSum s; s.a = Limits<T>::least(); s.b = 0; return s; }
    DEV void add(T x) { T m = greater(a, x); b = b * shrink(a, m) + shrink(x, m); a = m; }
    DEV void merge(const MaxSum& o) {
        T m = greater(a, o.a); b = b * shrink(a, m) + o.b * shrink(o.a, m); a = m;
    } };
// The greatest element and the sum of exponentials of the differences to it, as two passes give them.
template<class T> DEV T finite_or_zero(T m) { return m == Limits<T>::least() ? (T)0 : m; }
template<class T> struct alignas(2 * sizeof(T)) Softmax { T a, b;
    static DEV Softmax none() { Softmax s; s.a = Limits<T>::least(); s.b = 0; return s; }
    DEV void add(T x) { T m = greater(a, x), z = finite_or_zero(m); b = b * s_exp(a - z) + s_exp(x - z); a = m; }
    DEV void merge(const Softmax& o) {
        T m = greater(a, o.a), z = finite_or_zero(m);
        b = b * s_exp(a - z) + o.b * s_exp(o.a - z); a = m;
    } };
template<class T> DEV T below_greatest(const Softmax<T>& s) { return s.a == Limits<T>::least() ? s.a - s.a : s.b; }
template<class T> struct alignas(2 * sizeof(T)) Affine { T a, b;
    static DEV Affine none() { Affine s; s.a = 1; s.b = 0; return s; }
    DEV void add(T x, T y) { b = x * b + y; a = a * x; }
    DEV void merge(const Affine& o) { b = o.a * b + o.b; a = a * o.a; } };

// V elements at once: one rescaling for all of them.
template<int V, class S, class T> DEV void add_all(S& s, const T (&x)[V]) { LANES(j) s.add(x[j]); }
template<int V, class T> DEV void add_all(Sum<T>& s, const T (&x)[V]) {
    T y[V];
    LANES(j) y[j] = x[j];
    UNROLL for (int step = V / 2; step > 0; step /= 2) UNROLL for (int j = 0; j < step; ++j) y[j] = (T)(y[j] + y[j + step]);
    s.add(y[0]);
}
template<int V, class T> DEV void add_all(MaxSum<T>& s, const T (&x)[V]) {
    T m = s.a;
    LANES(j) m = greater(m, x[j]);
    T sum = s.b * shrink(s.a, m);
    LANES(j) sum += shrink(x[j], m);
    s.a = m; s.b = sum;
}
template<int V, class T> DEV void add_all(Softmax<T>& s, const T (&x)[V]) {
    T y[V], m = s.a;
    LANES(j) m = greater(m, x[j]);
    T z = finite_or_zero(m);
    LANES(j) y[j] = s_exp(x[j] - z);
    UNROLL for (int step = V / 2; step > 0; step /= 2) UNROLL for (int j = 0; j < step; ++j) y[j] += y[j + step];
    s.b = s.b * s_exp(s.a - z) + y[0];
    s.a = m;
}
// What one thread adds to a Welford state: differences to the mean of its first vector, and their squares. Over MOST vectors the sum of
// squares exceeds that of the differences to the mean at most 1 + MOST times, so that little cancels.
template<class T> struct Shifted { T pivot, sum, squares, count; Welford<T> earlier;
    static constexpr int MOST = 8;
    static DEV Shifted none() { Shifted s; s.pivot = s.sum = s.squares = s.count = 0; s.earlier = Welford<T>::none(); return s; }
    DEV Welford<T> state() const {
        if (count == 0) return earlier;
        Welford<T> o;
        T by = s_div(sum, count), squared = squares - sum * by;
        o.a = pivot + by; o.b = squared < 0 ? (T)0 : squared; o.c = count;
        if (earlier.c == 0) return o;
        Welford<T> s = earlier;
        s.merge(o);
        return s;
    } };
template<int V, class T> DEV void add_all(Shifted<T>& s, const T (&x)[V]) {
    if (s.count == V * Shifted<T>::MOST) { Welford<T> earlier = s.state(); s = Shifted<T>::none(); s.earlier = earlier; }
    if (s.count == 0) {
        T y[V];
        LANES(j) y[j] = x[j];
        UNROLL for (int step = V / 2; step > 0; step /= 2) UNROLL for (int j = 0; j < step; ++j) y[j] += y[j + step];
        s.pivot = y[0] * (T)(1.0 / V);
    }
    LANES(j) { T d = x[j] - s.pivot; s.sum += d; s.squares += d * d; }
    s.count += V;
}

// Two states that are merged at once.
template<class A, class B> struct Both { A a; B b;
    static DEV Both none() { Both s; s.a = A::none(); s.b = B::none(); return s; }
    DEV void merge(const Both& o) { a.merge(o.a); b.merge(o.b); } };

// Merging states of threads. All threads that share a result take part; the order depends on their numbers only.
template<class S> DEV S shuffled(const S& s, int mask) {
    S r;
    UNROLL for (int i = 0; i < (int)(sizeof(S) / 4); ++i)
        reinterpret_cast<u32*>(&r)[i] = __shfl_xor_sync(0xffffffffu, reinterpret_cast<const u32*>(&s)[i], mask);
    return r;
}
// The state of a lane of the warp.
template<class S> DEV S of_lane(const S& s, int lane) {
    S r;
    UNROLL for (int i = 0; i < (int)(sizeof(S) / 4); ++i)
        reinterpret_cast<u32*>(&r)[i] = __shfl_sync(0xffffffffu, reinterpret_cast<const u32*>(&s)[i], lane);
    return r;
}
// Whether two states merge to the same in either order, to the last bit.
template<class S> struct Commutes { static constexpr bool value = false; };
template<class T> struct Commutes<Sum<T>> { static constexpr bool value = true; };
template<class A, class B> struct Commutes<Both<A, B>> { static constexpr bool value = Commutes<A>::value && Commutes<B>::value; };
template<int G, class S> DEV S across_warp(S s) {
    UNROLL for (int m = 1; m < G; m *= 2) {
        S o = shuffled(s, m);
        if constexpr (Commutes<S>::value) { s.merge(o); continue; }
        S first = threadIdx.x & m ? o : s, last = threadIdx.x & m ? s : o;
        first.merge(last);
        s = first;
    }
    return s;
}
// The greatest element first, so that a state is rescaled once.
template<int G, class T> DEV Softmax<T> across_warp(Softmax<T> s) {
    T m = s.a;
    UNROLL for (int i = 1; i < G; i *= 2) m = greater(m, shuffled(m, i));
    s.b *= s_exp(s.a - finite_or_zero(m));
    UNROLL for (int i = 1; i < G; i *= 2) s.b += shuffled(s.b, i);
    s.a = m;
    return s;
}
// The mean first, as the first state's and the differences to it, then the squared differences to it.
template<int G, class T> DEV Welford<T> across_warp(Welford<T> s) {
    auto all = [](T x) { UNROLL for (int i = 1; i < G; i *= 2) x += shuffled(x, i); return x; };
    if constexpr (G > 1) {
        T n = all(s.c), first = of_lane(s.a, threadIdx.x % 32 / G * G), by = all(s.c * (s.a - first));
        T mean = n == 0 ? (T)0 : first + s_div(by, n), d = s.a - mean;
        s.b = all(s.b + s.c * (d * d)); s.a = mean; s.c = n;
    }
    return s;
}
// Groups of G adjacent threads, of T; a state per warp of the block meets in `shared`, which nothing else may use before the
// threads have waited for each other once more.
template<class S> DEV void to_group(S s, S* shared) {
    s = across_warp<32>(s);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = s;
}
template<int G, int T, class S> DEV S from_group(S* shared) {
    constexpr int W = G / 32;
    wait<G, T>();
    int lane = threadIdx.x % 32;
    S t = lane < W ? shared[threadIdx.x / G * W + lane] : S::none();
    return of_lane(across_warp<W>(t), 0);
}
template<int G, int T, class S> DEV S across(S s, S* shared) {
    to_group(s, shared);
    return from_group<G, T>(shared);
}
// The same for V states of every thread, which are dealt to the lanes of a warp while they are merged.
template<int G, int T, int V, class S> DEV void across_all(S (&y)[V], S* shared) {
    constexpr int W = G / 32, EACH = 32 / V, PART = (W + EACH - 1) / EACH;
    int lane = threadIdx.x % 32;
    UNROLL for (int m = 16, n = V / 2; n > 0; m /= 2, n /= 2) {
        UNROLL for (int j = 0; j < n; ++j) {
            S kept = lane & m ? y[j + n] : y[j], other = shuffled(lane & m ? y[j] : y[j + n], m);
            if (lane & m) { other.merge(kept); y[j] = other; } else { kept.merge(other); y[j] = kept; }
        }
    }
    S s = across_warp<EACH>(y[0]);
    if (lane % EACH == 0) shared[threadIdx.x / 32 * V + lane / EACH] = s;
    wait<G, T>();
    s = S::none();
    UNROLL for (int i = 0; i < PART; ++i) {
        int warp = lane % EACH * PART + i;
        if (warp < W) s.merge(shared[(threadIdx.x / G * W + warp) * V + lane / EACH]);
    }
    s = across_warp<EACH>(s);
    LANES(j) y[j] = of_lane(s, j * EACH);
}
// Sends a warp's state to the same place in every block of a cluster of C.
template<int C, class S> DEV void send_all(const S& s, S* place, u64* meeting) {
    int lane = threadIdx.x % 32;
    if (lane < C) {
        SharedAddress slot = in_block(shared_address(place), lane), there = in_block(shared_address(meeting), lane);
        UNROLL for (int i = 0; i < (int)(sizeof(S) / 4); ++i) send(slot + 4 * i, reinterpret_cast<const u32*>(&s)[i], there);
    }
}
// All threads of a cluster of C blocks of T, where they wait for the result at once: every warp sends its state to every block.
template<int C, int T, class S> DEV void warps_to_cluster(S s, S* shared, u64* meeting) {
    send_all<C>(across_warp<32>(s), shared + cluster_rank() * (T / 32) + threadIdx.x / 32, meeting);
}
// The same where they go on: states of warps meet in `warps`, and the first warp sends the block's state to every block. It alone
// waits for the others, at the barrier of a turn.
template<int C, int T, class S> DEV void to_cluster(S s, S* warps, S* shared, u64* meeting, int turn) {
    constexpr int W = T / 32;
    s = across_warp<32>(s);
    int lane = threadIdx.x % 32;
    if (lane == 0) warps[threadIdx.x / 32] = s;
    if (threadIdx.x >= 32) { warp_arrives<T>(turn); return; }
    warps_arrived<T>(turn);
    send_all<C>(across_warp<W>(warps[lane % W]), shared + cluster_rank(), meeting);
}
// The merged state of N that were sent.
template<int N, class S> DEV S from_cluster(S* shared, u64* meeting, u32 parity) {
    constexpr int G = N < 32 ? N : 32, EACH = N / G;
    meeting_over(meeting, parity);
    if (threadIdx.x == 0) meeting_again(meeting, N * sizeof(S));
    const S* own = shared + threadIdx.x % G * EACH;
    S s = own[0];
    UNROLL for (int i = 1; i < EACH; ++i) s.merge(own[i]);
    return across_warp<G>(s);
}
// Groups of G threads at a distance of STRIDE.
template<int G, int STRIDE, int T, class S> DEV S across_strided(S s, void* scratch) {
    S* shared = reinterpret_cast<S*>(scratch);
    int t = threadIdx.x, g = t / STRIDE % G;
    shared[t] = s;
    UNROLL for (int step = G / 2; step > 0; step /= 2) {
        __syncthreads();
        if (g < step) shared[t].merge(shared[t + step * STRIDE]);
    }
    __syncthreads();
    S r = shared[t - g * STRIDE];
    __syncthreads();
    return r;
}
// Lanes whose states of T threads fit into the shared memory of a block at once.
template<class S, int T, int V> constexpr int at_once() {
    int n = V;
    while (n > 1 && n * T * (int)sizeof(S) > 48 * 1024) n /= 2;
    return n;
}
// The first of R groups of STRIDE threads gets what all of them accumulated, lane by lane.
template<int R, int STRIDE, int T, int V, class S> DEV void across_walkers(S (&y)[V], void* scratch) {
    S* shared = reinterpret_cast<S*>(scratch);
    constexpr int L = at_once<S, T, V>();
    int t = threadIdx.x;
    UNROLL for (int from = 0; from < V; from += L) {
        __syncthreads();
        UNROLL for (int j = 0; j < L; ++j) shared[j * T + t] = y[from + j];
        __syncthreads();
        if (t < STRIDE) {
            UNROLL for (int j = 0; j < L; ++j)
                UNROLL for (int r = 1; r < R; ++r) y[from + j].merge(shared[j * T + t + r * STRIDE]);
        }
    }
    __syncthreads();
}
template<int R, int STRIDE, int T, class S> DEV void across_walkers_one(S& y, void* scratch) {
    across_walkers<R, STRIDE, T, 1>(reinterpret_cast<S(&)[1]>(y), scratch);
}
// Inclusive scan over G adjacent threads after a carry, which becomes that of the next elements.
template<int G, int T, class S> DEV S scan_across(S s, S& carry, void* scratch) {
    S* shared = reinterpret_cast<S*>(scratch);
    int t = threadIdx.x, g = t % G;
    shared[t] = s;
    UNROLL for (int step = 1; step < G; step *= 2) {
        __syncthreads();
        S o = g >= step ? shared[t - step] : S::none();
        __syncthreads();
        if (g >= step) { o.merge(s); s = o; shared[t] = s; }
    }
    __syncthreads();
    S r = carry;
    r.merge(s);
    S last = shared[t - g + G - 1];
    carry.merge(last);
    __syncthreads();
    return r;
}
