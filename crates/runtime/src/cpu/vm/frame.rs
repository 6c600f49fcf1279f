//! A thread's registers while it runs prepared code.

use std::cell::RefCell;

use program::Reg;

use super::code::Prepared;
use super::sink::CheckSink;

/// Where a register's elements are right now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) ptr: *mut u8,
    /// Bytes from one row to the next, for registers that vary over rows and columns.
    pub(crate) row_stride: isize,
}

/// One tile of work.
pub(crate) struct Tile<'a> {
    /// One pointer per parameter.
    pub(crate) ptrs: &'a [*mut u8],
    /// Index of each loop axis at the tile's first point.
    pub(crate) index: &'a [i64],
    /// Rows of this tile, at most the prepared tile's.
    pub(crate) rows: usize,
    /// Columns of this tile, at most the prepared tile's.
    pub(crate) cols: usize,
    /// Accumulator tiles of a product: first element, and elements from one row to the next.
    pub(crate) acc: &'a [(*mut u8, usize)],
    /// Streaming stores: results go past the caches.
    pub(crate) stream: bool,
    /// Where checks report.
    pub(crate) sink: &'a CheckSink,
}

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// Scratch memory of one thread: the arena and the current place of each register.
#[derive(Default)]
pub(crate) struct Frame {
    lines: Vec<Line>,
    scratch: Vec<f32>,
    pub(crate) places: Vec<Place>,
    dims: (usize, usize),
}

impl Frame {
    /// An empty frame.
    pub(crate) fn new() -> Frame {
        Frame::default()
    }

    /// Runs `f` with this thread's own frame.
    pub(crate) fn with<R>(f: impl FnOnce(&mut Frame) -> R) -> R {
        thread_local!(static FRAME: RefCell<Frame> = RefCell::new(Frame::new()));
        FRAME.with(|frame| match frame.try_borrow_mut() {
            Ok(mut frame) => f(&mut frame),
            Err(_) => f(&mut Frame::new()),
        })
    }

    fn base(&mut self) -> *mut u8 {
        self.lines.as_mut_ptr().cast()
    }

    /// Makes the frame fit the code; registers other than constants are undefined afterwards.
    pub(crate) fn bind(&mut self, code: &Prepared) {
        let lines = code.arena.div_ceil(64);
        if self.lines.len() < lines {
            self.lines.resize(lines, Line([0; 64]));
        }
        let base = self.base();
        self.places.clear();
        self.places.extend(code.regs.iter().map(|r| Place { ptr: base.wrapping_add(r.home), row_stride: 0 }));
        self.dims = (0, 0);
        for &(reg, bits) in &code.consts {
            let size = code.regs[usize::from(reg)].size;
            // SAFETY: the home of a constant lies in the arena.
            unsafe { std::ptr::copy_nonoverlapping(bits.to_le_bytes().as_ptr(), self.places[usize::from(reg)].ptr, size) };
        }
    }

    /// Prepares the places for a tile.
    pub(crate) fn enter(&mut self, code: &Prepared, tile: &Tile<'_>) {
        if self.dims != (tile.rows, tile.cols) {
            self.dims = (tile.rows, tile.cols);
            for (place, reg) in self.places.iter_mut().zip(&code.regs) {
                place.row_stride = (tile.cols * reg.size) as isize;
            }
        }
        let base = self.base();
        for r in &code.residents {
            let at = r
                .strides
                .iter()
                .fold(code.regs[usize::from(r.reg)].home, |at, &(axis, stride)| at + tile.index[axis] as usize * stride);
            self.places[usize::from(r.reg)] = Place { ptr: base.wrapping_add(at), row_stride: r.row_stride as isize };
        }
    }

    /// The place of a register.
    pub(crate) fn place(&self, reg: Reg) -> Place {
        self.places[usize::from(reg)]
    }

    /// The register's own memory, laid out densely for the current tile.
    pub(crate) fn home(&mut self, code: &Prepared, reg: Reg) -> Place {
        let info = &code.regs[usize::from(reg)];
        if info.resident != 0 {
            return self.place(reg);
        }
        let ptr = self.base().wrapping_add(info.home);
        Place { ptr, row_stride: (self.dims.1 * info.size) as isize }
    }

    /// Memory for so many elements, with unspecified contents.
    pub(crate) fn scratch(&mut self, elements: usize) -> *mut f32 {
        if self.scratch.len() < elements {
            self.scratch.resize(elements, 0.0);
        }
        self.scratch.as_mut_ptr()
    }

    /// Tile-sized buffer for conversions.
    pub(crate) fn temp(&mut self, code: &Prepared) -> *mut u8 {
        self.base().wrapping_add(code.temp)
    }
}
