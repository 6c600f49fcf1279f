//! Executes prepared code on one tile.

use super::code::{Alu, Fold, Generic, Operand, Prepared, RegInfo, Shape, Step};
use super::frame::{Frame, Place, Tile};
use super::types;
use super::{indirect, memory};
use program::Reg;
use scalar::Scalar;
use simd::Leaf;
use simd::copy;
use simd::fold::Args;

/// Loop counts of a register or access: (outer, inner); the inner direction is the columns, or the rows without columns.
#[inline]
pub(super) fn counts(rows: bool, cols: bool, tile: &Tile<'_>) -> (usize, usize) {
    match (rows, cols) {
        (true, true) => (tile.rows, tile.cols),
        (false, true) => (1, tile.cols),
        (true, false) => (1, tile.rows),
        (false, false) => (1, 1),
    }
}

/// Byte steps of a register through a destination that varies over columns or not: (outer, inner).
#[inline]
pub(super) fn steps(info: &RegInfo, place: Place, along_cols: bool) -> (isize, isize) {
    let size = info.size as isize;
    match (info.rows, info.cols) {
        (true, true) => (place.row_stride, size),
        (false, true) => (0, size),
        (true, false) if along_cols => (size, 0),
        (true, false) => (0, size),
        (false, false) => (0, 0),
    }
}

/// Runs code list number `list` of `code` on a tile.
///
/// # Safety
/// The frame is bound to the code; the tile's pointers, extents and indices are those that the program was verified for,
/// and no other thread writes what the tile reads or writes.
pub(crate) unsafe fn run_tile(code: &Prepared, list: usize, frame: &mut Frame, tile: &Tile<'_>) {
    frame.enter(code, tile);
    let list = &code.lists[list];
    for step in list {
        // SAFETY: same contract; every step touches its registers' places and the program's affine indices only.
        unsafe {
            match step {
                Step::Alu(alu) => run_alu(code, list, alu, frame, tile),
                Step::Load(load) => memory::load(code, load, frame, tile),
                Step::Store(store) => memory::store(code, store, frame, tile),
                Step::Reduce(fold) => reduce(code, fold, frame, tile),
                Step::Init { reg, bits } => fill(code, *reg, *bits, frame, tile),
                Step::Index { dst, lin } => memory::index(code, *dst, lin, frame, tile),
                Step::Mask { dst, mask } => memory::mask(code, *dst, mask, frame, tile),
                Step::LoadAt(load) => indirect::load_at(code, load, frame, tile),
                Step::StoreAt(store) => indirect::store_at(code, store, frame, tile),
                Step::Check { dst, value, limit, mask, message } => {
                    indirect::check(code, (*dst, *value, *mask), *limit, *message, frame, tile);
                }
                Step::Generic(generic) => run_generic(code, generic, frame, tile),
                Step::Scan { fold, along_rows } => scan(code, fold, *along_rows, frame, tile),
                Step::Acc { dst, which } => {
                    let (ptr, ld) = tile.acc[*which];
                    let row_stride = (ld * code.regs[usize::from(*dst)].size) as isize;
                    frame.places[usize::from(*dst)] = Place { ptr, row_stride };
                }
            }
        }
    }
}

#[inline]
unsafe fn run_alu(code: &Prepared, list: &[Step], alu: &Alu, frame: &mut Frame, tile: &Tile<'_>) {
    let info = &code.regs[usize::from(alu.dst)];
    let [a, b, c] = alu.args.map(|o| frame.place(o.reg));
    if let Some(store) = alu.out {
        let target = match &list[store] {
            Step::Store(store) if !tile.stream => memory::target(store, tile),
            _ => None,
        };
        // Loops are vectorised for a destination that no operand shares.
        let target = target.filter(|t| [a, b, c].iter().all(|o| o.ptr != t.ptr));
        frame.places[usize::from(alu.dst)] = target.unwrap_or_else(|| frame.home(code, alu.dst));
    }
    let d = frame.place(alu.dst);
    let (outer, inner) = counts(info.rows, info.cols, tile);
    // SAFETY: the caller's contract; vectors hold `inner` elements per row.
    unsafe {
        if (outer == 1 && !alu.splat) || (alu.flat && dense(d, info.size, inner) && operands_dense(alu, [a, b, c], inner)) {
            return apply(alu, d.ptr, a.ptr, b.ptr, c.ptr, outer * inner);
        }
        let [da, db, dc] = [0, 1, 2].map(|k| row_step(&alu.args[k], [a, b, c][k]));
        let (mut dp, mut ap, mut bp, mut cp) = (d.ptr, a.ptr, b.ptr, c.ptr);
        for _ in 0..outer {
            if alu.splat {
                apply(alu, dp, ap, bp, cp, 1);
                copy::fill(info.size, dp, read(info.size, dp), inner);
            } else {
                apply(alu, dp, ap, bp, cp, inner);
            }
            dp = dp.wrapping_offset(d.row_stride);
            ap = ap.wrapping_offset(da);
            bp = bp.wrapping_offset(db);
            cp = cp.wrapping_offset(dc);
        }
    }
}

#[inline(always)]
unsafe fn apply(alu: &Alu, d: *mut u8, a: *const u8, b: *const u8, c: *const u8, n: usize) {
    // SAFETY: the caller's contract.
    unsafe {
        (alu.leaf)(d, a, b, c, n);
        if let Some(post) = alu.post {
            post(d, d, d, d, n);
        }
    }
}

#[inline]
fn row_step(operand: &Operand, place: Place) -> isize {
    match operand.shape {
        Shape::Full => place.row_stride,
        Shape::PerRow => operand.size as isize,
        Shape::Shared | Shape::Single => 0,
    }
}

#[inline]
fn dense(place: Place, size: usize, cols: usize) -> bool {
    place.row_stride == (size * cols) as isize
}

#[inline]
fn operands_dense(alu: &Alu, places: [Place; 3], cols: usize) -> bool {
    alu.args.iter().zip(places).all(|(o, place)| o.shape == Shape::Single || dense(place, o.size, cols))
}

/// Sets every element of a register.
unsafe fn fill(code: &Prepared, reg: Reg, bits: u64, frame: &mut Frame, tile: &Tile<'_>) {
    let info = &code.regs[usize::from(reg)];
    let place = frame.home(code, reg);
    frame.places[usize::from(reg)] = place;
    let (outer, inner) = counts(info.rows, info.cols, tile);
    for r in 0..outer {
        // SAFETY: the register holds `outer` rows of `inner` elements.
        unsafe { copy::fill(info.size, place.ptr.wrapping_offset(r as isize * place.row_stride), bits, inner) };
    }
}

unsafe fn run_generic(code: &Prepared, g: &Generic, frame: &mut Frame, tile: &Tile<'_>) {
    let info = &code.regs[usize::from(g.dst)];
    let (outer, inner) = counts(info.rows, info.cols, tile);
    let d = frame.place(g.dst);
    let mut values = [Scalar::zero(info.dtype); 3];
    for r in 0..outer {
        let row = d.ptr.wrapping_offset(r as isize * d.row_stride);
        for i in 0..inner {
            for (k, (&reg, &dtype)) in g.args.iter().zip(&g.dtypes).enumerate() {
                let (arg, place) = (&code.regs[usize::from(reg)], frame.place(reg));
                let step = steps(arg, place, info.cols);
                let at = place.ptr.wrapping_offset(r as isize * step.0 + i as isize * step.1);
                // SAFETY: the element lies in the register.
                values[k] = types::scalar(arg.ty, dtype, unsafe { read(arg.size, at) });
            }
            let value = scalar::eval(g.op, &values[..g.args.len()]);
            // SAFETY: as above.
            unsafe { write(info.size, row.wrapping_add(i * info.size), types::register_bits(info.ty, value)) };
        }
        if let Some(post) = g.post {
            // SAFETY: as above.
            unsafe { post(row, row, row, row, inner) };
        }
    }
}

/// Zero-extended bits of an element.
///
/// # Safety
/// `p` is valid for `size` bytes.
pub(super) unsafe fn read(size: usize, p: *const u8) -> u64 {
    let mut bytes = [0; 8];
    // SAFETY: the caller's contract; size ≤ 8.
    unsafe { std::ptr::copy_nonoverlapping(p, bytes.as_mut_ptr(), size) };
    u64::from_le_bytes(bytes)
}

/// Writes the low bytes.
///
/// # Safety
/// `p` is valid for `size` bytes.
pub(super) unsafe fn write(size: usize, p: *mut u8, bits: u64) {
    // SAFETY: the caller's contract; size ≤ 8.
    unsafe { std::ptr::copy_nonoverlapping(bits.to_le_bytes().as_ptr(), p, size) };
}

/// Places, infos and strides of a fold's components.
struct Parts {
    acc: [Place; 3],
    acc_size: [usize; 3],
    src: [*mut u8; 3],
    /// Byte step per row.
    row: [isize; 3],
    /// Element step along the inner direction.
    step: [usize; 3],
}

fn parts(code: &Prepared, fold: &Fold, along_cols: bool, frame: &Frame) -> Parts {
    let acc = fold.acc.map(|r| frame.place(r));
    let acc_size = fold.acc.map(|r| code.regs[usize::from(r)].size);
    let src = fold.src.map(|r| frame.place(r));
    let each = |k: usize| {
        let info = &code.regs[usize::from(fold.src[k])];
        let (outer, inner) = steps(info, src[k], along_cols);
        (outer, usize::from(inner != 0))
    };
    let all = [each(0), each(1), each(2)];
    let mut step = all.map(|e| e.1);
    // Absent components follow the first.
    for k in fold.sources..3 {
        step[k] = step[0];
    }
    Parts { acc, acc_size, src: src.map(|p| p.ptr), row: all.map(|e| e.0), step }
}

impl Parts {
    fn args(&self, r: usize, acc: [*mut u8; 3], rows: usize, n: usize) -> Args {
        let src = [0, 1, 2].map(|k| self.src[k].wrapping_offset(r as isize * self.row[k]));
        Args { acc, src, step: self.step, row: self.row, rows, n, dst: acc }
    }
    /// Accumulators of row `r`, one element per row.
    fn acc_element(&self, r: usize) -> [*mut u8; 3] {
        [0, 1, 2].map(|k| self.acc[k].ptr.wrapping_add(r * self.acc_size[k]))
    }
    /// Accumulators of row `r`, a vector per row.
    fn acc_row(&self, r: usize) -> [*mut u8; 3] {
        [0, 1, 2].map(|k| self.acc[k].ptr.wrapping_offset(r as isize * self.acc[k].row_stride))
    }
}

unsafe fn call(leaf: Leaf, args: &Args) {
    let null = std::ptr::null_mut();
    // SAFETY: fold loops read their operands from the `Args` only.
    unsafe { leaf(null, std::ptr::from_ref(args).cast(), null, null, 0) }
}

unsafe fn reduce(code: &Prepared, fold: &Fold, frame: &mut Frame, tile: &Tile<'_>) {
    let info = &code.regs[usize::from(fold.acc[0])];
    let folds = &fold.loops.0;
    let along_cols = info.cols || fold.cols;
    let p = parts(code, fold, along_cols, frame);
    let src_rows = if fold.rows { tile.rows } else { 1 };
    // SAFETY: the caller's contract; accumulators and sources hold the counted elements.
    unsafe {
        match (info.rows, info.cols) {
            (true, true) => {
                (0..tile.rows).for_each(|r| call(folds.columns, &p.args(r, p.acc_row(r), 1, tile.cols)));
            }
            (false, true) => call(folds.columns, &p.args(0, p.acc_row(0), src_rows, tile.cols)),
            (true, false) if fold.cols => {
                (0..tile.rows).for_each(|r| call(folds.fold, &p.args(r, p.acc_element(r), 1, tile.cols)));
            }
            (true, false) => call(folds.columns, &p.args(0, p.acc_element(0), 1, tile.rows)),
            (false, false) if fold.cols => {
                (0..src_rows).for_each(|r| call(folds.fold, &p.args(r, p.acc_element(0), 1, tile.cols)));
            }
            (false, false) => call(folds.fold, &p.args(0, p.acc_element(0), 1, src_rows)),
        }
        wrap(fold, info, &p.acc, tile);
    }
}

/// Wraps narrow integer accumulators.
unsafe fn wrap(fold: &Fold, info: &RegInfo, acc: &[Place; 3], tile: &Tile<'_>) {
    let Some(post) = fold.post else { return };
    let (outer, inner) = counts(info.rows, info.cols, tile);
    for r in 0..outer {
        let row = acc[0].ptr.wrapping_offset(r as isize * acc[0].row_stride);
        // SAFETY: the accumulator holds `inner` elements per row.
        unsafe { post(row, row, row, row, inner) };
    }
}

unsafe fn scan(code: &Prepared, fold: &Fold, along_rows: bool, frame: &mut Frame, tile: &Tile<'_>) {
    let infos = fold.dst.map(|r| code.regs[usize::from(r)]);
    let info = &infos[0];
    let folds = &fold.loops.0;
    let p = parts(code, fold, info.cols, frame);
    let dst = fold.dst.map(|r| frame.place(r));
    let (outer, inner) = counts(info.rows, info.cols, tile);
    for r in 0..outer {
        let rows = [0, 1, 2].map(|k| dst[k].ptr.wrapping_offset(r as isize * dst[k].row_stride));
        // SAFETY: the caller's contract; results, carries and sources hold the counted elements.
        unsafe {
            if along_rows && info.cols {
                call(folds.columns, &p.args(r, p.acc_row(0), 1, inner));
                for k in 0..fold.results {
                    std::ptr::copy_nonoverlapping(p.acc[k].ptr, rows[k], inner * infos[k].size);
                }
            } else {
                call(folds.scan, &Args { dst: rows, ..p.args(r, p.acc_element(r), 1, inner) });
            }
            if let Some(post) = fold.post {
                post(rows[0], rows[0], rows[0], rows[0], inner);
            }
        }
    }
}
