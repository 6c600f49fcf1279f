//! Copies: strided, transposing, filling, counting, streaming.

/// Copies `n` elements of `size` bytes with element strides.
///
/// # Safety
/// Both sides are valid at every touched element and do not overlap.
pub unsafe fn strided(size: usize, d: *mut u8, ds: isize, a: *const u8, stride: isize, n: usize) {
    // SAFETY: same contract.
    unsafe {
        match size {
            1 => typed::<u8>(d.cast(), ds, a.cast(), stride, n),
            2 => typed::<u16>(d.cast(), ds, a.cast(), stride, n),
            4 => typed::<u32>(d.cast(), ds, a.cast(), stride, n),
            _ => typed::<u64>(d.cast(), ds, a.cast(), stride, n),
        }
    }
}

#[inline(always)]
unsafe fn typed<T: Copy>(d: *mut T, ds: isize, a: *const T, s: isize, n: usize) {
    // SAFETY: same contract as `strided`.
    unsafe {
        match (ds, s) {
            (1, 1) => near(d.cast(), a.cast(), n * size_of::<T>()),
            (1, 0) => (0..n).for_each(|i| *d.add(i) = *a),
            (1, -1) => (0..n as isize).for_each(|i| *d.offset(i) = *a.offset(-i)),
            (1, 2) => (0..n as isize).for_each(|i| *d.offset(i) = *a.offset(2 * i)),
            (2, 1) => (0..n as isize).for_each(|i| *d.offset(2 * i) = *a.offset(i)),
            (1, _) => (0..n as isize).for_each(|i| *d.offset(i) = *a.offset(s * i)),
            (_, _) => (0..n as isize).for_each(|i| *d.offset(ds * i) = *a.offset(s * i)),
        }
    }
}

/// Copies `rows × cols` elements where the source is contiguous along rows and strided along columns (`cs` elements),
/// or the other way round for the destination: `d[r·dr + c·dc] = a[r·ar + c·ac]`, in 8 × 8 blocks.
///
/// # Safety
/// Both sides are valid at every touched element and do not overlap.
pub unsafe fn transpose(size: usize, d: *mut u8, to: (isize, isize), a: *const u8, from: (isize, isize), dims: (usize, usize)) {
    // SAFETY: same contract.
    unsafe {
        match size {
            1 => blocks::<u8>(d.cast(), to, a.cast(), from, dims),
            2 => blocks::<u16>(d.cast(), to, a.cast(), from, dims),
            4 => blocks::<u32>(d.cast(), to, a.cast(), from, dims),
            _ => blocks::<u64>(d.cast(), to, a.cast(), from, dims),
        }
    }
}

const B: usize = 8;

#[inline(always)]
unsafe fn blocks<T: Copy + Default>(d: *mut T, to: (isize, isize), a: *const T, from: (isize, isize), dims: (usize, usize)) {
    let (rows, cols) = dims;
    for r in (0..rows).step_by(B) {
        for c in (0..cols).step_by(B) {
            let (h, w) = ((rows - r).min(B), (cols - c).min(B));
            // SAFETY: the block lies inside the rectangle.
            unsafe {
                let d = d.offset(r as isize * to.0 + c as isize * to.1);
                let a = a.offset(r as isize * from.0 + c as isize * from.1);
                if h == B && w == B { full_block(d, to, a, from) } else { edge_block(d, to, a, from, (h, w)) }
            }
        }
    }
}

#[inline(always)]
unsafe fn full_block<T: Copy + Default>(d: *mut T, to: (isize, isize), a: *const T, from: (isize, isize)) {
    let mut block = [[T::default(); B]; B];
    // SAFETY: as `blocks`.
    unsafe {
        if from.0 == 1 && to.1 == 1 {
            for c in 0..B {
                for r in 0..B {
                    block[r][c] = *a.offset(r as isize + c as isize * from.1);
                }
            }
            for r in 0..B {
                (d.offset(r as isize * to.0)).cast::<[T; B]>().write_unaligned(block[r]);
            }
        } else {
            edge_block(d, to, a, from, (B, B));
        }
    }
}

#[inline(always)]
unsafe fn edge_block<T: Copy>(d: *mut T, to: (isize, isize), a: *const T, from: (isize, isize), dims: (usize, usize)) {
    for r in 0..dims.0 as isize {
        for c in 0..dims.1 as isize {
            // SAFETY: as `blocks`.
            unsafe { *d.offset(r * to.0 + c * to.1) = *a.offset(r * from.0 + c * from.1) };
        }
    }
}

/// Sets `n` elements of `size` bytes.
///
/// # Safety
/// The destination is valid.
pub unsafe fn fill(size: usize, d: *mut u8, bits: u64, n: usize) {
    // SAFETY: same contract.
    unsafe {
        match size {
            1 => std::ptr::write_bytes(d, bits as u8, n),
            4 => std::slice::from_raw_parts_mut(d.cast::<u32>(), n).fill(bits as u32),
            _ => std::slice::from_raw_parts_mut(d.cast::<u64>(), n).fill(bits),
        }
    }
}

/// Writes `start + i·step` as i32 or i64.
///
/// # Safety
/// The destination is valid.
pub unsafe fn count(size: usize, d: *mut u8, start: i64, step: i64, n: usize) {
    // SAFETY: same contract.
    unsafe {
        if size == 4 {
            let (start, step) = (start as i32, step as i32);
            let d = std::slice::from_raw_parts_mut(d.cast::<i32>(), n);
            (0i32..).zip(d).for_each(|(i, x)| *x = start.wrapping_add(i.wrapping_mul(step)));
        } else {
            let d = std::slice::from_raw_parts_mut(d.cast::<i64>(), n);
            (0i64..).zip(d).for_each(|(i, x)| *x = start.wrapping_add(i.wrapping_mul(step)));
        }
    }
}

/// Copies a tile's bytes with vector moves: the library's string moves are several times slower at these sizes on some
/// machines.
///
/// # Safety
/// Both sides are valid for `n` bytes and do not overlap.
pub unsafe fn near(d: *mut u8, a: *const u8, n: usize) {
    #[cfg(target_arch = "x86_64")]
    if n >= 512 && super::isa() != super::Isa::Base {
        // SAFETY: same contract, and AVX is there.
        return unsafe { near_avx(d, a, n) };
    }
    // SAFETY: same contract.
    unsafe { std::ptr::copy_nonoverlapping(a, d, n) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
unsafe fn near_avx(d: *mut u8, a: *const u8, n: usize) {
    use std::arch::x86_64::{_mm256_loadu_si256, _mm256_storeu_si256};
    let mut i = 0;
    // SAFETY: offsets stay below n.
    unsafe {
        while i + 64 <= n {
            let (low, high) = (_mm256_loadu_si256(a.add(i).cast()), _mm256_loadu_si256(a.add(i + 32).cast()));
            _mm256_storeu_si256(d.add(i).cast(), low);
            _mm256_storeu_si256(d.add(i + 32).cast(), high);
            i += 64;
        }
        std::ptr::copy_nonoverlapping(a.add(i), d.add(i), n - i);
    }
}

/// Copies bytes past the caches where the machine can; [`fence`] must follow before another thread reads them.
///
/// # Safety
/// Both sides are valid for `n` bytes and do not overlap.
pub unsafe fn stream(d: *mut u8, a: *const u8, n: usize) {
    #[cfg(target_arch = "x86_64")]
    if super::isa() != super::Isa::Base {
        // SAFETY: same contract, and AVX is there.
        return unsafe { stream_avx(d, a, n) };
    }
    // SAFETY: same contract.
    unsafe { std::ptr::copy_nonoverlapping(a, d, n) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
unsafe fn stream_avx(d: *mut u8, a: *const u8, n: usize) {
    use std::arch::x86_64::{_mm256_loadu_si256, _mm256_stream_si256};
    let head = d.align_offset(32).min(n);
    // SAFETY: offsets stay below n, and streaming stores are 32-byte aligned after the head.
    unsafe {
        std::ptr::copy_nonoverlapping(a, d, head);
        let mut i = head;
        while i + 32 <= n {
            _mm256_stream_si256(d.add(i).cast(), _mm256_loadu_si256(a.add(i).cast()));
            i += 32;
        }
        std::ptr::copy_nonoverlapping(a.add(i), d.add(i), n - i);
    }
}

/// Orders streaming stores before later ones.
pub fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 machine has SSE.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}
