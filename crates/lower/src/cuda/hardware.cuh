// What is the hardware's own: stored types of 16 bits, approximations, copies into shared memory, threads that wait.
typedef unsigned long long u64;
typedef unsigned int u32;
typedef long long i64;
#pragma nv_diag_suppress 177
#define DEV __device__ __forceinline__
#define UNROLL _Pragma("unroll")

struct b8 { unsigned char b; };
struct f16 { unsigned short b; };
struct bf16 { unsigned short b; };
DEV float up(f16 x) { float r; asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(x.b)); return r; }
DEV float low_half(f16, u32 x) { f16 h; h.b = (unsigned short)x; return up(h); }
DEV float high_half(f16, u32 x) { f16 h; h.b = (unsigned short)(x >> 16); return up(h); }
// Two halves of a word at once: the instruction for one is four times slower.
DEV u32 pair(f16, float a, float b) { u32 r; asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(b), "f"(a)); return r; }
DEV u32 pair(bf16, float a, float b) { u32 r; asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(b), "f"(a)); return r; }
// NaN if either is NaN; of zeros of both signs, either.
DEV float greater(float a, float b) { float r; asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }
DEV float lesser(float a, float b) { float r; asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }
DEV float ex2(float x) { float r; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x)); return r; }
DEV float rcp(float x) { float r; asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x)); return r; }
// For results of 16 bits: relative error below 2^-11.
DEV float tanh_low(float x) { float r; asm("tanh.approx.f32 %0, %1;" : "=f"(r) : "f"(x)); return r; }

// Shared memory in which what a thread has copied waits for it.
extern __shared__ uint4 slots[];
typedef u32 SharedAddress;
DEV SharedAddress shared_address(const void* p) { return (u32)__cvta_generic_to_shared(p); }
#if __CUDA_ARCH__ >= 800
template<int BYTES> DEV void copy_bytes(void* to, const void* from) {
    constexpr int each = BYTES % 16 == 0 ? 16 : BYTES % 8 == 0 ? 8 : 4;
    UNROLL for (int i = 0; i < BYTES; i += each) {
        SharedAddress into = shared_address(to) + i;
        const char* part = reinterpret_cast<const char*>(from) + i;
        if constexpr (each == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(into), "l"(part) : "memory");
        else asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" :: "r"(into), "l"(part), "n"(each) : "memory");
    }
}
DEV void copies_begun() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template<int PENDING> DEV void copies_done() { asm volatile("cp.async.wait_group %0;" :: "n"(PENDING) : "memory"); }
#else
template<int BYTES> DEV void copy_bytes(void* to, const void* from) {
    UNROLL for (int i = 0; i < BYTES; i += 4)
        *reinterpret_cast<u32*>(reinterpret_cast<char*>(to) + i) = *reinterpret_cast<const u32*>(reinterpret_cast<const char*>(from) + i);
}
DEV void copies_begun() {}
template<int PENDING> DEV void copies_done() {}
#endif

// Waits for the G adjacent threads that share a result; all of a block's T wait together where numbers of barriers run out.
template<int G, int T> DEV void wait() {
    if constexpr (G == T || T / G > 15) __syncthreads();
    else asm volatile("bar.sync %0, %1;" :: "r"((int)threadIdx.x / G + 1), "n"(G) : "memory");
}
// The first warp of a block of T waits for the others, which do not wait: once per turn, of which four may be open.
template<int T> DEV void warp_arrives(int turn) { asm volatile("bar.arrive %0, %1;" :: "r"(1 + (turn & 3)), "n"(T) : "memory"); }
template<int T> DEV void warps_arrived(int turn) { asm volatile("bar.sync %0, %1;" :: "r"(1 + (turn & 3)), "n"(T) : "memory"); }
// A kernel may be launched while earlier ones of its stream run, and waits for them here, in every thread that reads or writes memory;
// from now on the next one may do so.
DEV void earlier_kernels_done() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;\n\tgriddepcontrol.launch_dependents;" ::: "memory");
#endif
}
// Tells other blocks of meetings that have begun, of nothing else in memory.
DEV void cluster_arrive() {
    asm volatile("fence.mbarrier_init.release.cluster;\n\tbarrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
DEV void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
DEV u32 cluster_rank() { u32 rank; asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank)); return rank; }
// The same place in another block of the cluster.
DEV SharedAddress in_block(SharedAddress address, u32 rank) {
    u32 there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
    return there;
}
// A meeting is over once so many bytes have been sent to it; its next turn begins with `meeting_again`.
DEV void meeting_again(u64* meeting, u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(shared_address(meeting)), "r"(bytes) : "memory");
}
DEV void meeting_begun(u64* meeting, u32 bytes) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(shared_address(meeting)) : "memory");
    meeting_again(meeting, bytes);
}
DEV void meeting_over(u64* meeting, u32 parity) {
    u32 over;
    do asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                    : "=r"(over) : "r"(shared_address(meeting)), "r"(parity) : "memory");
    while (!over);
}
DEV void send(SharedAddress to, u32 word, SharedAddress meeting) {
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];"
                 :: "r"(to), "r"(word), "r"(meeting) : "memory");
}
