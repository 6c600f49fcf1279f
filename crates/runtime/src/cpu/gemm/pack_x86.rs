//! AVX2 packing of four-byte elements.

#![cfg(target_arch = "x86_64")]

use std::arch::x86_64::*;

use super::pack::{Block, Tables, run_length};

/// Lanes of a vector.
const V: usize = 8;

/// Packs when one of the vector forms applies; false means nothing was written.
///
/// # Safety
/// As `Pack::pack` for elements of four bytes on both sides, with filled tables, on a machine with AVX2.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn pack(block: &Block<'_>, out: *mut f32, tables: &mut Tables) -> bool {
    let data = block.data.cast::<f32>();
    // SAFETY: the caller's contract.
    unsafe {
        if block.source.is_transposed() {
            transpose(block, data, out, tables);
        } else if block.source.lane_step() == 1 {
            runs(block, data, out, tables);
        } else if block.source.lane_step() == 2 {
            alternate(block, data, out, tables);
        } else {
            return false;
        }
    }
    true
}

/// Panels that are packed side by side, so that rows are read in longer pieces.
const SIDE: usize = 4;
/// How many k positions ahead rows are requested from memory.
const AHEAD: usize = 8;

#[target_feature(enable = "avx2")]
unsafe fn runs(block: &Block<'_>, data: *const f32, out: *mut f32, tables: &mut Tables) {
    let (lanes, w, kc) = (block.x.len(), block.w, block.k.len());
    let masked = !block.source.limits.is_empty();
    let mut lane = 0;
    while lane < lanes {
        let within = lane % w;
        // SAFETY: the output has room for all panels.
        let rows = unsafe { out.add((lane - within) * kc) };
        let run = run_length(block, lane, lanes);
        let from = data.wrapping_offset(tables.lanes()[lane] as isize);
        // SAFETY: the caller's contract, for the lanes of this run.
        unsafe {
            if within == 0 && run >= w && !masked {
                let panels = (run / w).min(SIDE);
                whole(from, tables.steps(), w, panels, rows);
                lane += panels * w;
            } else {
                let len = run.min(w - within);
                tables.measure(block, lane, len);
                part(from, within, tables, w, rows);
                lane += len;
            }
        }
    }
}

/// A run without bounds that fills some panels.
#[target_feature(enable = "avx2")]
unsafe fn whole(from: *const f32, steps: &[i64], w: usize, panels: usize, rows: *mut f32) {
    for (k, &step) in steps.iter().enumerate() {
        let ahead = from.wrapping_offset(steps[(k + AHEAD).min(steps.len() - 1)] as isize);
        let from = from.wrapping_offset(step as isize);
        for panel in 0..panels {
            let to = rows.wrapping_add((panel * steps.len() + k) * w);
            for v in (0..w).step_by(V) {
                let at = panel * w + v;
                // SAFETY: these lanes are readable at each k and the panels have room; a prefetch reads nothing.
                unsafe {
                    _mm_prefetch::<_MM_HINT_T0>(ahead.wrapping_add(at).cast());
                    store(to.add(v), load(from.add(at), w - v), w - v);
                }
            }
        }
    }
}

/// A run at lane `at` of the panel with valid spans: the first run of a panel writes whole rows, later ones merge.
#[target_feature(enable = "avx2")]
unsafe fn part(from: *const f32, at: usize, tables: &mut Tables, w: usize, rows: *mut f32) {
    let vectors = w.div_ceil(V);
    tables.mask_lanes(
        |span, v| {
            let mut mask = [0; V];
            // SAFETY: the array has eight lanes.
            unsafe { _mm256_storeu_si256(mask.as_mut_ptr().cast(), lanes_between(at + span.0, at + span.1, v * V)) };
            mask
        },
        vectors,
    );
    let (masks, mut phase) = (tables.masks(), 0);
    for (k, &step) in tables.steps().iter().enumerate() {
        let from = from.wrapping_offset(step as isize).wrapping_sub(at);
        for v in 0..vectors {
            // SAFETY: the mask admits only lanes of the run inside the bounds; the panel has room, and its row was written
            // by the first run (at lane 0) when it is read.
            unsafe {
                let mask = _mm256_loadu_si256(masks[phase + v].as_ptr().cast());
                let to = rows.add(k * w + v * V);
                let new = _mm256_maskload_ps(from.wrapping_add(v * V), mask);
                let room = w - v * V;
                let row = if at == 0 { new } else { _mm256_or_ps(new, load(to, room)) };
                store(to, row, room);
            }
        }
        phase = if phase + vectors == masks.len() { 0 } else { phase + vectors };
    }
}

/// All ones in the lanes of the vector from lane `v` that lie in lo..hi.
#[target_feature(enable = "avx2")]
fn lanes_between(lo: usize, hi: usize, v: usize) -> __m256i {
    let lane = _mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(v as i32));
    let below = _mm256_cmpgt_epi32(_mm256_set1_epi32(hi as i32), lane);
    let above = _mm256_cmpgt_epi32(_mm256_set1_epi32(lo as i32), lane);
    _mm256_andnot_si256(above, below)
}

/// Packs lanes that lie two elements apart.
#[target_feature(enable = "avx2")]
unsafe fn alternate(block: &Block<'_>, data: *const f32, out: *mut f32, tables: &mut Tables) {
    let (lanes, w, kc) = (block.x.len(), block.w, block.k.len());
    for start in (0..lanes).step_by(w) {
        let end = (start + w).min(lanes);
        // SAFETY: the output has room for this panel of kc·w elements.
        let rows = unsafe { out.add(start * kc) };
        if end - start < w || !block.source.limits.is_empty() {
            // SAFETY: as above.
            unsafe { std::ptr::write_bytes(rows, 0, kc * w) };
        }
        let mut lane = start;
        while lane < end {
            let len = run_length(block, lane, end);
            tables.measure(block, lane, len);
            let from = data.wrapping_offset(tables.lanes()[lane] as isize);
            for ((k, &step), &(lo, hi)) in tables.steps().iter().enumerate().zip(tables.spans().iter().cycle()) {
                let from = from.wrapping_offset(step as isize + 2 * lo as isize);
                // SAFETY: lanes lo..hi of the run are inside the bounds at this k, and inside the panel.
                unsafe { every_other(from, rows.add(k * w + lane - start + lo), hi - lo) };
            }
            lane += len;
        }
    }
}

/// Copies elements 0, 2, …, 2·(n − 1); the last vector overlaps the one before.
#[target_feature(enable = "avx2")]
unsafe fn every_other(from: *const f32, to: *mut f32, n: usize) {
    if n < V {
        // SAFETY: the caller vouches for these elements.
        (0..n).for_each(|i| unsafe { *to.add(i) = *from.add(2 * i) });
        return;
    }
    for i in (0..n).step_by(V) {
        let i = i.min(n - V);
        // SAFETY: elements 2i to 2i + 14 lie between valid ones.
        let (low, high) = unsafe { (_mm256_loadu_ps(from.add(2 * i)), _mm256_loadu_ps(from.add(2 * i + 7))) };
        let mixed = _mm256_shuffle_ps::<0b11_01_10_00>(low, high);
        let even = _mm256_castpd_ps(_mm256_permute4x64_pd::<0b11_01_10_00>(_mm256_castps_pd(mixed)));
        // SAFETY: as above.
        unsafe { _mm256_storeu_ps(to.add(i), even) };
    }
}

/// Transposes 8 lanes by 8 k positions at a time.
#[target_feature(enable = "avx2")]
unsafe fn transpose(block: &Block<'_>, data: *const f32, out: *mut f32, tables: &Tables) {
    let (lanes, w, kc) = (block.x.len(), block.w, block.k.len());
    let whole = block.source.k.last().map_or(1, |d| d.extent as usize);
    for start in (0..lanes).step_by(w) {
        // SAFETY: the output has room for all panels.
        let rows = unsafe { out.add(start * kc) };
        for group in (0..w).step_by(V) {
            let valid = lanes.saturating_sub(start + group).min(V.min(w - group));
            let x = &tables.lanes()[(start + group).min(lanes)..][..valid];
            let mut k = 0;
            while k < kc {
                let run = (whole - (block.k.start + k) % whole).min(kc - k);
                // SAFETY: `run` adjacent elements are readable at each valid lane, and the panel has room.
                unsafe {
                    let from = data.wrapping_offset(tables.steps()[k] as isize);
                    transpose_run(from, x, run, w - group, w, rows.add(k * w + group));
                }
                k += run;
            }
        }
    }
}

/// `len` adjacent k positions of up to 8 lanes at offsets `x`; at most `room` lanes are written, w elements apart by k.
#[target_feature(enable = "avx2")]
unsafe fn transpose_run(from: *const f32, x: &[i64], len: usize, room: usize, w: usize, out: *mut f32) {
    let mut k = 0;
    while k + V <= len {
        let mut m = [_mm256_setzero_ps(); V];
        for (m, &x) in m.iter_mut().zip(x) {
            // SAFETY: eight elements from k are inside the run.
            *m = unsafe { _mm256_loadu_ps(from.offset(x as isize).add(k)) };
            _mm_prefetch::<_MM_HINT_T0>(from.wrapping_offset(x as isize).wrapping_add(k + V * AHEAD).cast());
        }
        for (i, row) in transpose8(m).into_iter().enumerate() {
            // SAFETY: the panel has room for min(8, room) lanes at each k.
            unsafe { store(out.add((k + i) * w), row, room) };
        }
        k += V;
    }
    for k in k..len {
        for lane in 0..room.min(V) {
            // SAFETY: inside the run, and inside the panel.
            unsafe { *out.add(k * w + lane) = x.get(lane).map_or(0.0, |&x| *from.offset(x as isize).add(k)) };
        }
    }
}

/// Copies `lanes` lanes, `apart` elements from each other, of `len` adjacent positions to a panel of `w` lanes.
///
/// # Safety
/// Lanes and panel have these elements, `lanes ≤ w`, and the machine has AVX2.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn turn(from: *const f32, apart: usize, lanes: usize, len: usize, w: usize, out: *mut f32) {
    for group in (0..lanes).step_by(V) {
        let valid = V.min(lanes - group);
        let x: [i64; V] = std::array::from_fn(|i| ((group + i) * apart) as i64);
        // SAFETY: the caller's contract.
        unsafe { transpose_run(from, &x[..valid], len, valid, w, out.add(group)) };
    }
}

/// Loads the first `room` lanes (all 8 when there are more), zero beyond.
#[target_feature(enable = "avx2")]
unsafe fn load(from: *const f32, room: usize) -> __m256 {
    // SAFETY: the caller vouches for min(8, room) lanes.
    unsafe { if room >= V { _mm256_loadu_ps(from) } else { _mm256_maskload_ps(from, lanes_between(0, room, 0)) } }
}

/// Stores the first `room` lanes (all 8 when there are more).
#[target_feature(enable = "avx2")]
unsafe fn store(to: *mut f32, row: __m256, room: usize) {
    // SAFETY: the caller has room for min(8, room) lanes.
    unsafe {
        match room {
            8.. => _mm256_storeu_ps(to, row),
            4 => _mm_storeu_ps(to, _mm256_castps256_ps128(row)),
            6 => {
                _mm_storeu_ps(to, _mm256_castps256_ps128(row));
                _mm_storel_epi64(to.add(4).cast(), _mm_castps_si128(_mm256_extractf128_ps::<1>(row)));
            }
            _ => {
                let mut all = [0.0f32; V];
                _mm256_storeu_ps(all.as_mut_ptr(), row);
                std::ptr::copy_nonoverlapping(all.as_ptr(), to, room);
            }
        }
    }
}

#[target_feature(enable = "avx2")]
fn transpose8(m: [__m256; 8]) -> [__m256; 8] {
    let low = |a, b| _mm256_unpacklo_ps(a, b);
    let high = |a, b| _mm256_unpackhi_ps(a, b);
    let pairs = [
        low(m[0], m[1]),
        high(m[0], m[1]),
        low(m[2], m[3]),
        high(m[2], m[3]),
        low(m[4], m[5]),
        high(m[4], m[5]),
        low(m[6], m[7]),
        high(m[6], m[7]),
    ];
    let even = |a, b| _mm256_shuffle_ps::<0x44>(a, b);
    let odd = |a, b| _mm256_shuffle_ps::<0xEE>(a, b);
    let quads = [
        even(pairs[0], pairs[2]),
        odd(pairs[0], pairs[2]),
        even(pairs[1], pairs[3]),
        odd(pairs[1], pairs[3]),
        even(pairs[4], pairs[6]),
        odd(pairs[4], pairs[6]),
        even(pairs[5], pairs[7]),
        odd(pairs[5], pairs[7]),
    ];
    let near = |i: usize| _mm256_permute2f128_ps::<0x20>(quads[i], quads[i + 4]);
    let far = |i: usize| _mm256_permute2f128_ps::<0x31>(quads[i], quads[i + 4]);
    [near(0), near(1), near(2), near(3), far(0), far(1), far(2), far(3)]
}
