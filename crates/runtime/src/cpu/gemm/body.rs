//! Fused code of a product: operands that bodies compute, and the epilogue.

use std::ops::Range;

use base::Result;
use program::{Affine, Body, Gemm, Instr, Param, Reg};
use scalar::DType;
use smallvec::{SmallVec, smallvec};

use super::pack::Pack;
use super::plan::{Side, volume};
use super::source::unflatten;
use crate::cpu::launch::Launch;
use crate::cpu::vm::{Frame, Prepared, Tile, prepare_body, run_tile};

/// Most columns of a tile of fused code.
const COLS: usize = 128;

/// Loop indices by axis.
type Index = SmallVec<[i64; 12]>;

/// What happens to finished accumulators.
pub(crate) struct Epilogue {
    /// Set when the epilogue only stores the accumulators as they are: one output for each product.
    direct: SmallVec<[Direct; 2]>,
    code: Prepared,
    axes: usize,
    products: usize,
    flat_m: bool,
    flat_n: bool,
    /// Most rows and columns of a tile.
    most: (usize, usize),
}

/// An output that a product's accumulators go to unchanged: element `base + Σ batch + stride·i + j`.
#[derive(Clone, Debug)]
pub(crate) struct Direct {
    pub(crate) param: usize,
    pub(crate) base: i64,
    pub(crate) batch: SmallVec<[i64; 4]>,
    pub(crate) stride: i64,
    /// i runs over columns and j over rows, instead of the reverse.
    pub(crate) transposed: bool,
}

impl Epilogue {
    /// Prepares a product's epilogue; `dtype` is the accumulators' own.
    pub(crate) fn new(gemm: &Gemm, params: &[Param], dtype: DType) -> Result<Epilogue> {
        let m_end = gemm.batch.len() + gemm.m.len();
        let n_end = m_end + gemm.n.len();
        let last = |first: usize, end: usize| (end > first).then(|| end - 1);
        let axes = (last(gemm.batch.len(), m_end), last(m_end, n_end));
        let most = tile_sizes(run_of(&gemm.m, gemm.flat_m), run_of(&gemm.n, gemm.flat_n));
        Ok(Epilogue {
            direct: direct_stores(gemm, params, dtype).unwrap_or_default(),
            code: prepare_body(&gemm.epilogue, params, axes, most, None)?,
            axes: n_end + gemm.k.len(),
            products: gemm.products.len(),
            flat_m: gemm.flat_m,
            flat_n: gemm.flat_n,
            most,
        })
    }

    /// Where product `p` goes unchanged, if it does.
    pub(crate) fn direct(&self, p: usize) -> Option<&Direct> {
        self.direct.get(p)
    }

    /// Whether all accumulators go unchanged to outputs in which rows are adjacent.
    pub(crate) fn is_transposed(&self) -> bool {
        self.direct.first().is_some_and(|d| d.transposed)
    }

    /// Runs over the finished rows and columns of a tile. Product p's accumulators start `p · apart` elements of `size`
    /// bytes after `acc`, with rows `ld` elements apart.
    ///
    /// # Safety
    /// The accumulators have these rows and columns, and the launch's pointers fit the program.
    pub(crate) unsafe fn run(
        &self,
        launch: &Launch<'_>,
        batch: &[i64],
        (m, n): (&Side, &Side),
        area: (&Range<usize>, &Range<usize>),
        acc: Accumulators,
    ) {
        let mut index: Index = smallvec![0; self.axes];
        index[..batch.len()].copy_from_slice(batch);
        Frame::with(|frame| {
            frame.bind(&self.code);
            for cols in pieces(area.1, &n.extents, self.flat_n, self.most.1) {
                place(&mut index[n.first..], cols.start, &n.extents, self.flat_n);
                for rows in pieces(area.0, &m.extents, self.flat_m, self.most.0) {
                    place(&mut index[m.first..], rows.start, &m.extents, self.flat_m);
                    let first = (rows.start - area.0.start) * acc.ld + cols.start - area.1.start;
                    let at = |p: usize| (acc.start.wrapping_add((p * acc.apart + first) * acc.size), acc.ld);
                    let tiles: SmallVec<[_; 4]> = (0..self.products).map(at).collect();
                    let tile = Tile {
                        ptrs: launch.params,
                        index: &index,
                        rows: rows.len(),
                        cols: cols.len(),
                        acc: &tiles,
                        stream: false,
                        sink: launch.sink,
                    };
                    // SAFETY: the frame is bound to this code, and the rest is the caller's contract.
                    unsafe { run_tile(&self.code, 0, frame, &tile) };
                }
            }
        });
    }
}

/// Finished accumulators of a tile, for all products.
#[derive(Clone, Copy)]
pub(crate) struct Accumulators {
    pub(crate) start: *mut u8,
    /// Bytes of an element.
    pub(crate) size: usize,
    /// Elements between rows, and between products.
    pub(crate) ld: usize,
    pub(crate) apart: usize,
}

/// Positions over which a tile may extend: all of the axes when flat, else the last one.
fn run_of(extents: &[i64], flat: bool) -> usize {
    if flat { volume(extents) } else { extents.last().map_or(1, |&d| d.max(0) as usize) }
}

/// Most rows and columns of a tile, given how far each may extend.
fn tile_sizes(rows: usize, cols: usize) -> (usize, usize) {
    let cols = cols.clamp(1, COLS);
    (rows.clamp(1, Body::MAX_TILE / cols), cols)
}

/// Cuts a range of flattened positions into parts of at most `most` that do not cross the last axis (unless flat).
fn pieces(range: &Range<usize>, extents: &[i64], flat: bool, most: usize) -> impl Iterator<Item = Range<usize>> + use<> {
    let (run, end, mut at) = (run_of(extents, flat).max(1), range.end, range.start);
    std::iter::from_fn(move || {
        let start = at;
        at = (start + most).min(end).min(start - start % run + run);
        (start < end).then_some(start..at)
    })
}

/// Sets the indices of some axes to a flattened position.
fn place(index: &mut [i64], at: usize, extents: &[i64], flat: bool) {
    if flat {
        index[..extents.len()].fill(0);
        if let Some(last) = extents.len().checked_sub(1) {
            index[last] = at as i64;
        }
    } else {
        index[..extents.len()].copy_from_slice(&unflatten(at, extents.iter().copied()));
    }
}

/// The stores of an epilogue that is nothing else, by product; `None` when it is more, or the layouts disagree.
fn direct_stores(gemm: &Gemm, params: &[Param], dtype: DType) -> Option<SmallVec<[Direct; 2]>> {
    let mut found: SmallVec<[Option<Direct>; 2]> = gemm.products.iter().map(|_| None).collect();
    let mut sources: SmallVec<[(Reg, usize); 4]> = SmallVec::new();
    for instr in &gemm.epilogue.code {
        match instr {
            Instr::Acc { dst, which } => sources.push((*dst, usize::from(*which))),
            Instr::Store { param, index, mask, src } if mask.is_empty() => {
                let which = sources.iter().find(|s| s.0 == *src)?.1;
                let slot = found.get_mut(which)?;
                let param = usize::from(*param);
                if slot.is_some() || params.get(param)?.dtype != dtype {
                    return None;
                }
                let (nb, nm) = (gemm.batch.len(), gemm.m.len());
                let row = lane_coefficient(index, nb, &gemm.m, gemm.flat_m)?;
                let col = lane_coefficient(index, nb + nm, &gemm.n, gemm.flat_n)?;
                let (m, n) = (volume(&gemm.m), volume(&gemm.n));
                let rows_adjacent = row == 1 && m != 1 && (col != 1 || n == 1);
                let stride = if rows_adjacent { col } else { row };
                if (col != 1 && row != 1) || stride < 0 {
                    return None;
                }
                let batch = (0..nb).map(|a| index.at(a)).collect();
                *slot = Some(Direct { param, base: index.base, batch, stride, transposed: rows_adjacent });
            }
            _ => return None,
        }
    }
    let all = found.into_iter().collect::<Option<SmallVec<[Direct; 2]>>>()?;
    all.iter().all(|d| d.transposed == all[0].transposed).then_some(all)
}

/// Coefficient of the flattened axes when they act as one; 1 or 0 extents count as adjacent.
fn lane_coefficient(index: &Affine, first: usize, extents: &[i64], flat: bool) -> Option<i64> {
    let axes: SmallVec<[usize; 4]> = (0..extents.len()).filter(|&a| extents[a] != 1).collect();
    match axes[..] {
        [] => Some(1),
        [a] if !flat || a + 1 == extents.len() => Some(index.at(first + a)),
        _ if flat => Some(index.at(first + extents.len() - 1)),
        _ => None,
    }
}

/// An operand that a body computes.
pub(crate) struct Computed {
    code: Prepared,
    result: Reg,
    axes: usize,
    /// First axis and extents of the lanes and of k.
    x: (usize, Vec<i64>),
    k: (usize, Vec<i64>),
    /// Tiles have lanes as rows and k as columns (operand a), instead of the reverse.
    lanes_are_rows: bool,
    /// Most lanes and k positions of a tile.
    most: (usize, usize),
}

impl Computed {
    /// Prepares a computed operand of the m side (`lanes_are_rows`) or the n side.
    pub(crate) fn new(
        gemm: &Gemm,
        params: &[Param],
        body: &Body,
        result: Reg,
        side: &Side,
        lanes_are_rows: bool,
    ) -> Result<Computed> {
        let k_first = gemm.batch.len() + gemm.m.len() + gemm.n.len();
        let last = |first: usize, extents: &[i64]| (!extents.is_empty()).then(|| first + extents.len() - 1);
        let (x_axis, k_axis) = (last(side.first, &side.extents), last(k_first, &gemm.k));
        let (x_run, k_run) = (run_of(&side.extents, false), run_of(&gemm.k, false));
        let (axes, most) = if lanes_are_rows {
            ((x_axis, k_axis), tile_sizes(x_run, k_run))
        } else {
            ((k_axis, x_axis), tile_sizes(k_run, x_run))
        };
        Ok(Computed {
            code: prepare_body(body, params, axes, most, Some(result))?,
            result,
            axes: k_first + gemm.k.len(),
            x: (side.first, side.extents.clone()),
            k: (k_first, gemm.k.clone()),
            lanes_are_rows,
            most: if lanes_are_rows { most } else { (most.1, most.0) },
        })
    }

    /// Packs lanes `x` and positions `k` into panels of `w` lanes.
    ///
    /// # Safety
    /// The launch's pointers fit the program, and `out` has room for the panels.
    pub(crate) unsafe fn pack<T: Pack>(
        &self,
        launch: &Launch<'_>,
        batch: &[i64],
        x: Range<usize>,
        k: Range<usize>,
        w: usize,
        out: *mut T,
    ) {
        let mut index: Index = smallvec![0; self.axes];
        index[..batch.len()].copy_from_slice(batch);
        // SAFETY: the caller's contract.
        let panels = unsafe { std::slice::from_raw_parts_mut(out, x.len().next_multiple_of(w) * k.len()) };
        if !x.len().is_multiple_of(w) {
            panels[x.len() / w * w * k.len()..].fill(T::default());
        }
        // Pieces of whole panels, where a tile has room for one.
        let most = if self.most.0 >= w { self.most.0 / w * w } else { self.most.0 };
        Frame::with(|frame| {
            frame.bind(&self.code);
            for lanes in pieces(&x, &self.x.1, false, most) {
                place(&mut index[self.x.0..], lanes.start, &self.x.1, false);
                for steps in pieces(&k, &self.k.1, false, self.most.1) {
                    place(&mut index[self.k.0..], steps.start, &self.k.1, false);
                    // SAFETY: the frame is bound to this code; the rest is the caller's contract.
                    let computed = unsafe { self.tile::<T>(launch, &index, frame, lanes.len(), steps.len()) };
                    // SAFETY: the result register holds the tile.
                    unsafe {
                        computed.scatter(
                            lanes.start - x.start..lanes.end - x.start,
                            steps.start - k.start..steps.end - k.start,
                            w,
                            k.len(),
                            panels,
                        )
                    };
                }
            }
        });
    }

    unsafe fn tile<T>(&self, launch: &Launch<'_>, index: &[i64], frame: &mut Frame, lanes: usize, steps: usize) -> Dense<T> {
        let (rows, cols) = if self.lanes_are_rows { (lanes, steps) } else { (steps, lanes) };
        let tile = Tile { ptrs: launch.params, index, rows, cols, acc: &[], stream: false, sink: launch.sink };
        // SAFETY: the caller's contract.
        unsafe { run_tile(&self.code, 0, frame, &tile) };
        let (place, info) = (frame.place(self.result), &self.code.regs[usize::from(self.result)]);
        let col = usize::from(info.cols);
        let row = match (info.rows, info.cols) {
            (true, true) => place.row_stride as usize / size_of::<T>(),
            (true, false) => 1,
            _ => 0,
        };
        let (x, k) = if self.lanes_are_rows { (row, col) } else { (col, row) };
        Dense { start: place.ptr.cast_const().cast(), x, k }
    }
}

/// A computed tile: element (lane, k) lies at `lane·x + k·k`.
struct Dense<T> {
    start: *const T,
    x: usize,
    k: usize,
}

impl<T: Pack> Dense<T> {
    /// Copies lanes by positions from `from` to the lanes of a panel.
    unsafe fn copy(&self, from: *const T, (lanes, len): (usize, usize), w: usize, panel: &mut [T]) {
        #[cfg(target_arch = "x86_64")]
        if self.k == 1 && T::DTYPE.size() == 4 && is_x86_feature_detected!("avx2") {
            // SAFETY: elements have four bytes, AVX2 was detected, and the rest is the caller's contract.
            unsafe { super::pack_x86::turn(from.cast(), self.x, lanes, len, w, panel.as_mut_ptr().cast()) };
            return;
        }
        for (i, row) in panel.chunks_mut(w).take(len).enumerate() {
            let from = from.wrapping_add(i * self.k);
            // SAFETY: the caller's contract.
            unsafe {
                if self.x == 1 {
                    std::ptr::copy_nonoverlapping(from, row.as_mut_ptr(), lanes);
                } else {
                    row[..lanes].iter_mut().enumerate().for_each(|(j, to)| *to = *from.add(j * self.x));
                }
            }
        }
    }

    /// Copies the tile to lanes `x` and positions `k` of panels of `w` lanes and `kc` positions.
    unsafe fn scatter(&self, x: Range<usize>, k: Range<usize>, w: usize, kc: usize, panels: &mut [T]) {
        let mut lane = x.start;
        while lane < x.end {
            let end = x.end.min(lane - lane % w + w);
            let panel = &mut panels[lane / w * w * kc..][..w * kc];
            let from = self.start.wrapping_add((lane - x.start) * self.x);
            // SAFETY: the caller's tile has these lanes and positions.
            unsafe { self.copy(from, (end - lane, k.len()), w, &mut panel[k.start * w + lane % w..]) };
            lane = end;
        }
    }
}
