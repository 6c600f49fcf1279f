//! Steps that touch parameters at affine indices.

use program::Reg;

use super::code::{Access, Prepared};
use super::frame::{Frame, Place, Tile};
use super::mask::{Cover, Lin, Mask};
use super::run::{counts, steps};
use simd::{Leaf, copy};

/// An access on the current tile: element strides and counts of its outer and inner direction.
#[derive(Clone, Copy)]
struct Rect {
    ptr: *mut u8,
    /// Bytes of a stored element.
    size: usize,
    outer_step: isize,
    inner_step: isize,
    outer: usize,
    inner: usize,
}

impl Rect {
    #[inline]
    fn new(access: &Access, tile: &Tile<'_>) -> Rect {
        let (outer, inner) = counts(access.rows, access.cols, tile);
        let (outer_step, inner_step) = element_steps(&access.lin, access.cols);
        let at = access.lin.at(tile.index) as isize * access.size as isize;
        Rect { ptr: tile.ptrs[access.param].wrapping_offset(at), size: access.size, outer_step, inner_step, outer, inner }
    }
    fn at(&self, row: usize, i: usize) -> *mut u8 {
        let element = row as isize * self.outer_step + i as isize * self.inner_step;
        self.ptr.wrapping_offset(element * self.size as isize)
    }
    /// Columns (or the only direction) are adjacent.
    fn contiguous(&self) -> bool {
        self.inner_step == 1 || self.inner == 1
    }
    /// One vector.
    fn dense(&self) -> bool {
        self.contiguous() && (self.outer == 1 || self.outer_step == self.inner as isize)
    }
    /// Adjacent along rows only.
    fn transposed(&self) -> bool {
        self.outer_step == 1 && !self.contiguous() && self.outer >= 4 && self.inner >= 4
    }
    fn row_bytes(&self) -> isize {
        self.outer_step * self.size as isize
    }
}

/// Element steps of an expression along the outer and inner direction.
pub(super) fn element_steps(lin: &Lin, along_cols: bool) -> (isize, isize) {
    if along_cols { (lin.row as isize, lin.col as isize) } else { (0, lin.row as isize) }
}

/// Where `i` in the outer row `r` is, as an interval of the inner direction; without columns the rows are tested singly.
struct Spans {
    firsts: smallvec::SmallVec<[i64; 4]>,
    along_cols: bool,
}

impl Spans {
    fn new(mask: &Mask, along_cols: bool, tile: &Tile<'_>) -> Spans {
        Spans { firsts: mask.firsts(tile.index), along_cols }
    }
    /// Calls `f(start, end)` for the valid runs of outer row `r`, in order.
    fn each(&self, mask: &Mask, r: usize, inner: usize, mut f: impl FnMut(usize, usize)) {
        if self.along_cols {
            let (start, end) = mask.interval(&self.firsts, r, inner);
            if start < end {
                f(start, end);
            }
            return;
        }
        for i in 0..inner {
            if mask.interval(&self.firsts, i, 1).1 == 1 {
                f(i, i + 1);
            }
        }
    }
}

pub(super) unsafe fn load(code: &Prepared, access: &Access, frame: &mut Frame, tile: &Tile<'_>) {
    let rect = Rect::new(access, tile);
    let cover = access.mask.cover(tile.index, tile.rows, tile.cols);
    if cover == Cover::All && access.alias && access.convert.is_none() && rect.contiguous() {
        frame.places[usize::from(access.reg)] = Place { ptr: rect.ptr, row_stride: rect.row_bytes() };
        return;
    }
    let d = frame.home(code, access.reg);
    frame.places[usize::from(access.reg)] = d;
    let size = code.regs[usize::from(access.reg)].size;
    let temp = frame.temp(code);
    // SAFETY: the caller's contract; the register's home holds outer × inner elements, and so does the buffer.
    unsafe {
        if cover == Cover::All {
            return load_rect(&rect, d, size, access.convert, temp);
        }
        let spans = Spans::new(&access.mask, access.cols, tile);
        for r in 0..rect.outer {
            let row = d.ptr.wrapping_offset(r as isize * d.row_stride);
            copy::fill(size, row, access.fill, rect.inner);
            if cover == Cover::Part {
                spans.each(&access.mask, r, rect.inner, |start, end| {
                    load_span(&rect, (r, start), row.wrapping_add(start * size), end - start, access.convert, temp);
                });
            }
        }
    }
}

unsafe fn load_span(rect: &Rect, (r, i): (usize, usize), d: *mut u8, n: usize, convert: Option<Leaf>, temp: *mut u8) {
    let a = rect.at(r, i);
    // SAFETY: the caller's contract.
    unsafe {
        match convert {
            None => copy::strided(rect.size, d, 1, a, rect.inner_step, n),
            Some(widen) if rect.contiguous() => widen(d, a, a, a, n),
            Some(widen) => {
                copy::strided(rect.size, temp, 1, a, rect.inner_step, n);
                widen(d, temp, temp, temp, n);
            }
        }
    }
}

unsafe fn load_rect(rect: &Rect, d: Place, size: usize, convert: Option<Leaf>, temp: *mut u8) {
    let (outer, inner) = (rect.outer, rect.inner);
    let dense = outer == 1 || d.row_stride == (inner * size) as isize;
    // SAFETY: the caller's contract.
    unsafe {
        if rect.transposed() {
            let (to, rows) = if convert.is_some() { (temp, inner as isize) } else { (d.ptr, d.row_stride / size as isize) };
            copy::transpose(rect.size, to, (rows, 1), rect.ptr, (1, rect.inner_step), (outer, inner));
            if let Some(widen) = convert {
                for r in 0..outer {
                    let a = temp.wrapping_add(r * inner * rect.size);
                    widen(d.ptr.wrapping_offset(r as isize * d.row_stride), a, a, a, inner);
                }
            }
        } else if dense && rect.dense() {
            load_span(rect, (0, 0), d.ptr, outer * inner, convert, temp);
        } else {
            for r in 0..outer {
                load_span(rect, (r, 0), d.ptr.wrapping_offset(r as isize * d.row_stride), inner, convert, temp);
            }
        }
    }
}

/// The memory of a store as a place that a result may be computed into: the whole tile is valid, rows do not overlap.
pub(super) fn target(access: &Access, tile: &Tile<'_>) -> Option<Place> {
    let rect = Rect::new(access, tile);
    let apart = rect.outer == 1 || rect.outer_step.unsigned_abs() >= rect.inner;
    let fits = rect.contiguous() && apart && access.mask.cover(tile.index, tile.rows, tile.cols) == Cover::All;
    fits.then(|| Place { ptr: rect.ptr, row_stride: rect.row_bytes() })
}

pub(super) unsafe fn store(code: &Prepared, access: &Access, frame: &mut Frame, tile: &Tile<'_>) {
    let rect = Rect::new(access, tile);
    let s = frame.place(access.reg);
    let info = &code.regs[usize::from(access.reg)];
    if s.ptr == rect.ptr && access.convert.is_none() && rect.contiguous() && (rect.outer == 1 || s.row_stride == rect.row_bytes())
    {
        return;
    }
    let cover = access.mask.cover(tile.index, tile.rows, tile.cols);
    if cover == Cover::Nothing {
        return;
    }
    let (row, step) = steps(info, s, access.cols);
    let out = Out { rect, size: info.size, convert: access.convert, temp: frame.temp(code), stream: tile.stream };
    // SAFETY: the caller's contract; the register holds what `row` and `step` reach.
    unsafe {
        if step == 0 && rect.inner > 1 {
            return out.broadcast(s.ptr, row, access, cover, tile);
        }
        if cover == Cover::All {
            return out.whole(s.ptr, row);
        }
        let spans = Spans::new(&access.mask, access.cols, tile);
        for r in 0..rect.outer {
            let a = s.ptr.wrapping_offset(r as isize * row);
            spans.each(&access.mask, r, rect.inner, |start, end| {
                out.span((r, start), a.wrapping_add(start * info.size), end - start);
            });
        }
    }
}

/// The destination of a store.
struct Out {
    rect: Rect,
    /// Bytes of a register element.
    size: usize,
    convert: Option<Leaf>,
    temp: *mut u8,
    stream: bool,
}

impl Out {
    unsafe fn span(&self, (r, i): (usize, usize), a: *const u8, n: usize) {
        let d = self.rect.at(r, i);
        let (size, step) = (self.rect.size, self.rect.inner_step);
        // SAFETY: the caller's contract.
        unsafe {
            match self.convert {
                None if self.stream && self.rect.contiguous() => copy::stream(d, a, n * size),
                None => copy::strided(size, d, step, a, 1, n),
                Some(narrow) if self.rect.contiguous() => narrow(d, a, a, a, n),
                Some(narrow) => {
                    narrow(self.temp, a, a, a, n);
                    copy::strided(size, d, step, self.temp, 1, n);
                }
            }
        }
    }

    /// The whole tile, from rows of elements.
    unsafe fn whole(&self, a: *const u8, row: isize) {
        let Rect { outer, inner, .. } = self.rect;
        // SAFETY: the caller's contract.
        unsafe {
            if self.rect.transposed() {
                return self.transpose(a, row);
            }
            let dense = outer == 1 || row == (inner * self.size) as isize;
            if dense && self.rect.dense() {
                return self.span((0, 0), a, outer * inner);
            }
            (0..outer).for_each(|r| self.span((r, 0), a.wrapping_offset(r as isize * row), inner));
        }
    }

    unsafe fn transpose(&self, a: *const u8, row: isize) {
        let Rect { size, outer, inner, .. } = self.rect;
        // Blocks read adjacent rows of the exchanged rectangle.
        let to = (self.rect.inner_step, 1);
        // SAFETY: the caller's contract; the buffer holds a tile.
        unsafe {
            let (from, row) = match self.convert {
                None => (a, row / size as isize),
                Some(narrow) => {
                    for r in 0..outer {
                        let a = a.wrapping_offset(r as isize * row);
                        narrow(self.temp.wrapping_add(r * inner * size), a, a, a, inner);
                    }
                    (self.temp.cast_const(), inner as isize)
                }
            };
            copy::transpose(size, self.rect.ptr, to, from, (1, row), (inner, outer));
        }
    }

    /// One register element for all inner positions of a row.
    unsafe fn broadcast(&self, a: *const u8, row: isize, access: &Access, cover: Cover, tile: &Tile<'_>) {
        let spans = Spans::new(&access.mask, access.cols, tile);
        let inner = self.rect.inner;
        let values = self.temp.wrapping_add(inner * 8);
        for r in 0..self.rect.outer {
            // SAFETY: the caller's contract; the buffer holds a tile of twice the elements of a row.
            unsafe {
                let bits = super::run::read(self.size, a.wrapping_offset(r as isize * row));
                copy::fill(self.size, values, bits, inner);
                if cover == Cover::All {
                    self.span((r, 0), values, inner);
                } else {
                    spans.each(&access.mask, r, inner, |start, end| self.span((r, start), values, end - start));
                }
            }
        }
    }
}

pub(super) unsafe fn index(code: &Prepared, dst: Reg, lin: &Lin, frame: &mut Frame, tile: &Tile<'_>) {
    let info = &code.regs[usize::from(dst)];
    let d = frame.place(dst);
    let (outer, inner) = counts(info.rows, info.cols, tile);
    let (row, step) = element_steps(lin, info.cols);
    for r in 0..outer {
        let first = lin.at(tile.index) + r as i64 * row as i64;
        // SAFETY: the register holds outer × inner elements.
        unsafe { copy::count(info.size, d.ptr.wrapping_offset(r as isize * d.row_stride), first, step as i64, inner) };
    }
}

pub(super) unsafe fn mask(code: &Prepared, dst: Reg, mask: &Mask, frame: &mut Frame, tile: &Tile<'_>) {
    let info = &code.regs[usize::from(dst)];
    let d = frame.place(dst);
    let (outer, inner) = counts(info.rows, info.cols, tile);
    let spans = Spans::new(mask, info.cols, tile);
    for r in 0..outer {
        let row = d.ptr.wrapping_offset(r as isize * d.row_stride);
        // SAFETY: the register holds outer × inner bytes.
        unsafe {
            copy::fill(1, row, 0, inner);
            spans.each(mask, r, inner, |start, end| copy::fill(1, row.wrapping_add(start), 1, end - start));
        }
    }
}
