//! Steps that touch parameters at computed indices, and the checks of such indices.

use program::Reg;
use scalar::{Scalar, ScalarOp};

use super::code::{Indirect, Prepared};
use super::frame::{Frame, Tile};
use super::memory::element_steps;
use super::run::{counts, read, steps, write};
use super::sink::STRAY;
use simd::copy;

/// Reads the offset and mask registers of one point.
struct Reader {
    offset: *const u8,
    offset_steps: (isize, isize),
    mask: Option<(*const u8, (isize, isize))>,
    first: i64,
    lin_steps: (isize, isize),
    elements: u64,
}

impl Reader {
    fn new(code: &Prepared, access: &Indirect, frame: &Frame, tile: &Tile<'_>) -> Reader {
        let at = |reg: Reg| {
            let place = frame.place(reg);
            (place.ptr.cast_const(), steps(&code.regs[usize::from(reg)], place, access.cols))
        };
        let (offset, offset_steps) = at(access.offset);
        Reader {
            offset,
            offset_steps,
            mask: access.mask.map(at),
            first: access.lin.at(tile.index),
            lin_steps: element_steps(&access.lin, access.cols),
            elements: access.elements,
        }
    }

    /// Element index of a point, `None` where the mask is false. `span` elements from there must lie in the buffer;
    /// otherwise the sink is told and there is no index either.
    ///
    /// # Safety
    /// The registers hold the point.
    unsafe fn index(&self, r: usize, i: usize, span: usize, tile: &Tile<'_>) -> Option<usize> {
        let go = |s: (isize, isize)| r as isize * s.0 + i as isize * s.1;
        // SAFETY: the caller's contract.
        unsafe {
            if self.mask.is_some_and(|(mask, s)| *mask.wrapping_offset(go(s)) == 0) {
                return None;
            }
            let offset = self.offset.wrapping_offset(go(self.offset_steps)).cast::<i64>().read();
            let index = self.first.wrapping_add(go(self.lin_steps) as i64).wrapping_add(offset);
            let fits = index >= 0 && (index as u64).checked_add(span as u64).is_some_and(|end| end <= self.elements);
            if !fits {
                tile.sink.record(STRAY, index);
            }
            fits.then_some(index as usize)
        }
    }
}

pub(super) unsafe fn load_at(code: &Prepared, access: &Indirect, frame: &mut Frame, tile: &Tile<'_>) {
    let info = &code.regs[usize::from(access.reg)];
    let (outer, inner) = counts(info.rows, info.cols, tile);
    let reader = Reader::new(code, access, frame, tile);
    let (d, temp) = (frame.place(access.reg), frame.temp(code));
    let (base, size) = (tile.ptrs[access.param].cast_const(), access.dtype.size());
    for r in 0..outer {
        let row = d.ptr.wrapping_offset(r as isize * d.row_stride);
        // SAFETY: the reader checks indices against the buffer; the register and the buffer hold a row.
        unsafe {
            if access.row_wise {
                let at = reader.index(r, 0, inner, tile).map(|index| base.wrapping_add(index * size));
                match (at, access.convert) {
                    (None, _) => copy::fill(info.size, row, 0, inner),
                    (Some(a), None) => std::ptr::copy_nonoverlapping(a, row, inner * size),
                    (Some(a), Some(widen)) => widen(row, a, a, a, inner),
                }
                continue;
            }
            let to = if access.convert.is_some() { temp } else { row };
            match size {
                1 => gather::<u8>(&reader, r, inner, base, to, tile),
                2 => gather::<u16>(&reader, r, inner, base, to, tile),
                4 => gather::<u32>(&reader, r, inner, base, to, tile),
                _ => gather::<u64>(&reader, r, inner, base, to, tile),
            }
            if let Some(widen) = access.convert {
                widen(row, temp, temp, temp, inner);
            }
        }
    }
}

/// Elements at the indices of one row, 0 where there is none.
unsafe fn gather<T: Copy + Default>(reader: &Reader, r: usize, n: usize, base: *const u8, to: *mut u8, tile: &Tile<'_>) {
    let (base, to) = (base.cast::<T>(), to.cast::<T>());
    for i in 0..n {
        // SAFETY: the reader checks indices against the buffer.
        unsafe { *to.add(i) = reader.index(r, i, 1, tile).map_or_else(T::default, |index| *base.add(index)) };
    }
}

pub(super) unsafe fn store_at(code: &Prepared, access: &Indirect, frame: &mut Frame, tile: &Tile<'_>) {
    let info = &code.regs[usize::from(access.reg)];
    let (outer, inner) = counts(access.rows, access.cols, tile);
    let reader = Reader::new(code, access, frame, tile);
    let (s, temp) = (frame.place(access.reg), frame.temp(code));
    let (row, step) = steps(info, s, access.cols);
    let (base, size) = (tile.ptrs[access.param], access.dtype.size());
    for r in 0..outer {
        let mut a = s.ptr.wrapping_offset(r as isize * row).cast_const();
        // SAFETY: the reader checks indices against the buffer; the register and the buffer hold a row.
        unsafe {
            if let Some(narrow) = access.convert {
                narrow(temp, a, a, a, if step == 0 { 1 } else { inner });
                a = temp;
            }
            if access.row_wise {
                let Some(index) = reader.index(r, 0, inner, tile) else { continue };
                let d = base.wrapping_add(index * size);
                if let Some(combine) = access.combine_row {
                    combine(temp, d, a, a, inner);
                    a = temp;
                }
                copy::near(d, a, inner * size);
                continue;
            }
            for i in 0..inner {
                let Some(index) = reader.index(r, i, 1, tile) else { continue };
                let value = a.wrapping_add(if step == 0 { 0 } else { i * size });
                put(access, base.wrapping_add(index * size), value);
            }
        }
    }
}

/// Writes or combines one stored element.
unsafe fn put(access: &Indirect, d: *mut u8, a: *const u8) {
    let size = access.dtype.size();
    // SAFETY: the caller's contract.
    unsafe {
        match (access.combine, access.dtype) {
            (None, _) => std::ptr::copy_nonoverlapping(a, d, size),
            (Some(ScalarOp::Add), scalar::DType::F32) => *d.cast::<f32>() += *a.cast::<f32>(),
            (Some(op), dtype) => {
                let there = [read(size, d), read(size, a)].map(|bits| Scalar::from_bits(dtype, bits));
                write(size, d, scalar::eval(op, &there).bits());
            }
        }
    }
}

/// Clamps values into `0..limit`, telling the sink of the first that was not there.
pub(super) unsafe fn check(
    code: &Prepared,
    (dst, value, mask): (Reg, Reg, Option<Reg>),
    limit: i64,
    message: u16,
    frame: &mut Frame,
    tile: &Tile<'_>,
) {
    let info = &code.regs[usize::from(dst)];
    let (outer, inner) = counts(info.rows, info.cols, tile);
    let d = frame.place(dst);
    let at = |reg: Reg| {
        let place = frame.place(reg);
        (place.ptr, steps(&code.regs[usize::from(reg)], place, info.cols))
    };
    let (values, mask) = (at(value), mask.map(at));
    let greatest = (limit - 1).max(0);
    for r in 0..outer {
        let row = d.ptr.wrapping_offset(r as isize * d.row_stride).cast::<i64>();
        let go = |(p, s): (*mut u8, (isize, isize)), i: usize| p.wrapping_offset(r as isize * s.0 + i as isize * s.1);
        for i in 0..inner {
            // SAFETY: the registers hold the point.
            unsafe {
                let on = mask.is_none_or(|m| *go(m, i) != 0);
                let v = go(values, i).cast::<i64>().read();
                if on && !(0 <= v && v < limit) {
                    tile.sink.record(message, v);
                }
                *row.add(i) = if on { v.clamp(0, greatest) } else { 0 };
            }
        }
    }
}
