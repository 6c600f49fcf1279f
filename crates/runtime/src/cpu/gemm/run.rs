//! Executes prepared products.

use base::Result;
use smallvec::SmallVec;

use super::body::{Accumulators, Direct};
use super::pack::{Block, Pack, Tables};
use super::plan::{Operand, Product, Side, Source, Tiling};
use super::scratch::Scratch;
use super::skinny::{Lies, Out as Rows};
use super::source::unflatten;
use crate::cpu::launch::Launch;
use crate::memory::Buffer;

/// Panels of an operand that are ready before the tiles run: first element of a batch index, and elements between batch
/// indices. `None`: each tile packs its own.
type Ready<T> = Option<(*const T, usize)>;

/// What the tiles of a launch share.
struct Shared<'a, T> {
    tiling: Tiling,
    launch: &'a Launch<'a>,
    a: SmallVec<[Ready<T>; 2]>,
    b: SmallVec<[Ready<T>; 2]>,
}

// SAFETY: the panels are only read while tiles run, and parameters follow the launcher's contract.
unsafe impl<T: Sync> Sync for Shared<'_, T> {}

/// Position of one tile.
struct Tile {
    batch: SmallVec<[i64; 6]>,
    batch_at: usize,
    rows: std::ops::Range<usize>,
    cols: std::ops::Range<usize>,
}

/// A base pointer that tasks may share: they write disjoint parts.
#[derive(Clone, Copy)]
struct Out<T>(*mut T);

// SAFETY: each task writes a part of its own.
unsafe impl<T> Sync for Out<T> {}

impl<T> Out<T> {
    fn at(&self, offset: usize) -> *mut T {
        self.0.wrapping_add(offset)
    }
}

impl<T: Pack> Product<T> {
    /// Runs the product.
    ///
    /// # Errors
    /// Out of memory for panels.
    ///
    /// # Safety
    /// The launch's pointers are valid for every access that the program makes.
    pub(crate) unsafe fn run(&self, launch: &Launch<'_>) -> Result<()> {
        if self.batches * self.rows.count * self.cols.count == 0 {
            return Ok(());
        }
        let tiling = self.tiling(launch.threads.threads());
        let (mr, nr, unpacked) = (self.panel_rows(), self.kernels.nr, self.lies.is_some());
        let mut held: SmallVec<[Buffer; 4]> = SmallVec::new();
        let mut ready = |operand: &Operand, side: &Side, width: usize, uses: usize, unpacked: bool| -> Result<Ready<T>> {
            if unpacked || self.k == 0 || !self.is_shared(operand, side, width, uses) {
                return Ok(None);
            }
            if width == 1
                && side.count == 1
                && let Some(data) = operand.as_panel(launch)
            {
                return Ok(Some((data, 0)));
            }
            let stride = side.count.next_multiple_of(width) * self.k;
            // SAFETY: the caller's contract.
            let fresh = || unsafe { self.pack_whole(operand, side, width, &tiling, launch) };
            let panels = match &operand.frozen {
                Some(recipe) => operand.kept(recipe, width, launch, fresh)?,
                None => {
                    held.push(fresh()?);
                    held[held.len() - 1].as_ptr()
                }
            };
            Ok(Some((panels.cast_const().cast(), if operand.varies { stride } else { 0 })))
        };
        let a = self.a.iter().map(|o| ready(o, &self.rows, mr, tiling.tiles.1, false)).collect::<Result<_>>()?;
        let b = self.b.iter().map(|o| ready(o, &self.cols, nr, tiling.tiles.0, unpacked)).collect::<Result<_>>()?;
        let shared = Shared { tiling, launch, a, b };
        launch.parallel(tiling.threads, tiling.total.div_ceil(tiling.group), &|task| {
            Scratch::with(|scratch| {
                for number in task * tiling.group..((task + 1) * tiling.group).min(tiling.total) {
                    // SAFETY: the caller's contract; tiles write disjoint parts of the outputs.
                    unsafe { self.tile(&shared, number, scratch) };
                }
            });
        });
        Ok(())
    }

    /// Packs an operand for all batch indices that it varies over, k block by k block.
    unsafe fn pack_whole(
        &self,
        operand: &Operand,
        side: &Side,
        width: usize,
        tiling: &Tiling,
        launch: &Launch<'_>,
    ) -> Result<Buffer> {
        let padded = side.count.next_multiple_of(width);
        let copies = if operand.varies { self.batches } else { 1 };
        let buffer = launch.pool.alloc(copies * padded * self.k * size_of::<T>())?;
        let out = Out(buffer.as_ptr().cast::<T>());
        let chunk = 16 * width;
        let chunks = side.count.div_ceil(chunk);
        let units = copies * self.blocks.len() * chunks;
        launch.parallel(tiling.threads, units, &|unit| {
            let (copy, block, chunk_at) = (unit / chunks / self.blocks.len(), unit / chunks % self.blocks.len(), unit % chunks);
            let (k, x) = (self.blocks[block].clone(), chunk_at * chunk..((chunk_at + 1) * chunk).min(side.count));
            let to = out.at((copy * self.k + k.start) * padded + x.start * k.len());
            let batch = unflatten(copy, self.batch.iter().copied());
            // SAFETY: the caller's contract; units fill disjoint parts of the buffer.
            Scratch::with(|s| unsafe { pack_part(operand, launch, &batch, x, k, width, to, &mut s.tables) });
        });
        Ok(buffer)
    }

    fn locate(&self, number: usize, tiling: &Tiling) -> Tile {
        let per_batch = tiling.tiles.0 * tiling.tiles.1;
        let (batch_at, in_batch) = (number / per_batch, number % per_batch);
        let (row, col) = (in_batch % tiling.tiles.0 * tiling.mc, in_batch / tiling.tiles.0 * tiling.nc);
        Tile {
            batch: unflatten(batch_at, self.batch.iter().copied()),
            batch_at,
            rows: row..(row + tiling.mc).min(self.rows.count),
            cols: col..(col + tiling.nc).min(self.cols.count),
        }
    }

    /// Computes one tile over all of k, then its epilogue.
    unsafe fn tile(&self, shared: &Shared<'_, T>, number: usize, scratch: &mut Scratch) {
        let Tiling { mc, nc, .. } = shared.tiling;
        let (mr, unpacked) = (self.panel_rows(), self.lies.is_some());
        let tile = self.locate(number, &shared.tiling);
        let kc = self.blocks.iter().map(|b| b.len()).max().unwrap_or(0);
        let area = mc * nc;
        let local = |ready: &[Ready<T>], width: usize| if ready.iter().all(Option::is_some) { 0 } else { width * kc };
        let packed_b = if unpacked { 0 } else { local(&shared.b, nc) };
        let edge = self.lies.map_or(32 * 16, |l| l.room(mc, nc));
        let turned = if self.swapped { area * self.pairs.len() } else { 0 };
        let counts = [local(&shared.a, mc) * self.a.len(), packed_b * self.b.len(), area * self.pairs.len(), turned, edge];
        let ([pa, pb, acc, turned, edge], tables) = scratch.parts::<T, 5>(counts);
        let part = Part { shared, tile: &tile, edge };
        for block in &self.blocks {
            // SAFETY: the caller's contract, and the parts have the sizes asked for.
            unsafe {
                self.pack_tile(&part, block, [pa, pb], tables);
                for (p, &(a, b)) in self.pairs.iter().enumerate() {
                    let target = self.target(&part, p, acc.add(p * area));
                    let a_panels = part.panels(&shared.a[a], &tile.rows, self.rows.count.next_multiple_of(mr), self.k, block);
                    let a_panels = a_panels.unwrap_or(pa.add(a * mc * kc));
                    if let Some(lies) = self.lies {
                        self.skinny_tile(&part, (lies, &self.b[b]), block, a_panels, target, tables);
                        continue;
                    }
                    let b_panels =
                        part.panels(&shared.b[b], &tile.cols, self.cols.count.next_multiple_of(self.kernels.nr), self.k, block);
                    let b_panels = b_panels.unwrap_or(pb.add(b * nc * kc));
                    self.block_product(&part, block, a_panels, b_panels, target);
                }
            }
        }
        // SAFETY: as above.
        unsafe { self.finish(&part, acc, turned) };
    }

    /// Packs what a tile needs of a k block and nobody packed before.
    unsafe fn pack_tile(&self, part: &Part<'_, T>, block: &std::ops::Range<usize>, out: [*mut T; 2], tables: &mut Tables) {
        let (shared, tile) = (part.shared, part.tile);
        let kc = self.blocks.iter().map(|b| b.len()).max().unwrap_or(0);
        let sides = [
            (&self.a, &shared.a, &tile.rows, self.panel_rows(), shared.tiling.mc, false),
            (&self.b, &shared.b, &tile.cols, self.kernels.nr, shared.tiling.nc, self.lies.is_some()),
        ];
        for (side, &(operands, ready, x, width, size, skip)) in sides.iter().enumerate() {
            for (i, operand) in operands.iter().enumerate().filter(|&(i, _)| !skip && ready[i].is_none()) {
                // SAFETY: the caller's contract; the scratch has `size · kc` elements for each operand.
                unsafe {
                    let to = out[side].add(i * size * kc);
                    pack_part(operand, shared.launch, &tile.batch, x.clone(), block.clone(), width, to, tables);
                }
            }
        }
    }

    /// Where product `p` of a tile accumulates, and the row stride: the output itself or the scratch at `acc`.
    unsafe fn target(&self, part: &Part<'_, T>, p: usize, acc: *mut T) -> (*mut T, usize, bool) {
        match self.epilogue.direct(p) {
            Some(direct) if direct.transposed == self.swapped => {
                let (rows, cols) = (part.tile.rows.start, part.tile.cols.start);
                (
                    part.output(direct).wrapping_offset((rows as i64 * direct.stride) as isize).wrapping_add(cols),
                    direct.stride as usize,
                    true,
                )
            }
            _ => (acc, part.shared.tiling.nc, false),
        }
    }

    /// Adds one k block's product to the target (sets it for the first block).
    unsafe fn block_product(
        &self,
        part: &Part<'_, T>,
        block: &std::ops::Range<usize>,
        a: *const T,
        b: *const T,
        (c, ldc, exact): (*mut T, usize, bool),
    ) {
        let (mr, nr, kc) = (self.kernels.mr, self.kernels.nr, block.len());
        let (rows, cols, add) = (part.tile.rows.len(), part.tile.cols.len(), block.start > 0);
        for j in (0..cols).step_by(nr) {
            let width = nr.min(cols - j);
            for i in (0..rows).step_by(mr) {
                let height = mr.min(rows - i);
                let micro = self.kernels.micro[height - 1];
                // SAFETY: panels hold kc steps, and the target has the tile's rows and (padded or exact) columns.
                unsafe {
                    let (a, b, c) = (a.add(i * kc), b.add(j * kc), c.add(i * ldc + j));
                    if width == nr || !exact {
                        micro(kc, a, b, c, ldc, add);
                    } else {
                        micro(kc, a, b, part.edge, nr, false);
                        copy_out(part.edge, nr, c, ldc, (height, width), add);
                    }
                }
            }
        }
    }

    /// As `block_product` for a tile of few rows and an operand that is read where it lies.
    unsafe fn skinny_tile(
        &self,
        part: &Part<'_, T>,
        (lies, operand): (Lies, &Operand),
        k: &std::ops::Range<usize>,
        a: *const T,
        (c, ldc, _): (*mut T, usize, bool),
        tables: &mut Tables,
    ) {
        let Source::Direct { param, strided } = &operand.source else { return };
        let base = strided.at_batch(&part.tile.batch);
        let data = part.shared.launch.params[*param].cast_const();
        let block = Block { source: strided, data, base: &base, x: part.tile.cols.clone(), k: k.clone(), w: 1 };
        let out = Rows { start: c, ld: ldc, n: part.tile.cols.len() };
        // SAFETY: the caller's contract: the tile's columns are readable at each k; the scratch has the room.
        unsafe { self.skinny_block(lies, a, &block, out, part.edge, tables) };
    }

    /// Runs the epilogue over a finished tile.
    unsafe fn finish(&self, part: &Part<'_, T>, acc: *mut T, turned: *mut T) {
        let Tiling { mc, nc, .. } = part.shared.tiling;
        let (rows, cols) = (part.tile.rows.len(), part.tile.cols.len());
        if self.blocks.is_empty() {
            // SAFETY: the scratch has `mc · nc` elements for each product, or the outputs have the tile.
            (0..self.pairs.len()).for_each(|p| unsafe {
                let (c, ldc, _) = self.target(part, p, acc.add(p * mc * nc));
                (0..rows).for_each(|r| std::slice::from_raw_parts_mut(c.add(r * ldc), cols).fill(T::default()));
            });
        }
        if (0..self.pairs.len()).all(|p| self.epilogue.direct(p).is_some_and(|d| d.transposed == self.swapped)) {
            return;
        }
        let (mut start, mut ld, apart) = (acc, nc, mc * nc);
        if self.swapped {
            // SAFETY: both scratch parts have `mc · nc` elements for each product.
            (0..self.pairs.len()).for_each(|p| unsafe { turn(acc.add(p * apart), nc, turned.add(p * apart), mc, (rows, cols)) });
            (start, ld) = (turned, mc);
        }
        let acc = Accumulators { start: start.cast(), size: size_of::<T>(), ld, apart };
        let (sides, area) = if self.swapped {
            ((&self.cols, &self.rows), (&part.tile.cols, &part.tile.rows))
        } else {
            ((&self.rows, &self.cols), (&part.tile.rows, &part.tile.cols))
        };
        // SAFETY: the accumulators cover the tile, and the rest is the caller's contract.
        unsafe { self.epilogue.run(part.shared.launch, &part.tile.batch, sides, area, acc) };
    }
}

/// A tile at work.
struct Part<'a, T> {
    shared: &'a Shared<'a, T>,
    tile: &'a Tile,
    /// Room for one kernel's result, or what a product of few rows needs.
    edge: *mut T,
}

impl<T> Part<'_, T> {
    /// Panels of the tile's lanes in a ready operand: `padded` lanes and `k` positions in all.
    fn panels(
        &self,
        ready: &Ready<T>,
        lanes: &std::ops::Range<usize>,
        padded: usize,
        k: usize,
        block: &std::ops::Range<usize>,
    ) -> Option<*const T> {
        let (panels, stride) = (*ready)?;
        debug_assert!(block.end <= k);
        Some(panels.wrapping_add(self.tile.batch_at * stride + block.start * padded + lanes.start * block.len()))
    }

    /// First element of a directly written output at the tile's batch index.
    fn output(&self, direct: &Direct) -> *mut T {
        let at: i64 = direct.base + direct.batch.iter().zip(&self.tile.batch).map(|(c, i)| c * i).sum::<i64>();
        self.shared.launch.params[direct.param].cast::<T>().wrapping_offset(at as isize)
    }
}

/// Packs lanes `x` and positions `k` of an operand.
#[allow(clippy::too_many_arguments)]
unsafe fn pack_part<T: Pack>(
    operand: &Operand,
    launch: &Launch<'_>,
    batch: &[i64],
    x: std::ops::Range<usize>,
    k: std::ops::Range<usize>,
    w: usize,
    out: *mut T,
    tables: &mut Tables,
) {
    match &operand.source {
        Source::Direct { param, strided } => {
            let base = strided.at_batch(batch);
            let data = launch.params[*param].cast_const();
            // SAFETY: the caller's contract.
            unsafe { T::pack(&Block { source: strided, data, base: &base, x, k, w }, out, tables) }
        }
        // SAFETY: the caller's contract.
        Source::Computed(computed) => unsafe { computed.pack(launch, batch, x, k, w, out) },
    }
}

/// Copies or adds a rectangle.
pub(super) unsafe fn copy_out<T: Pack>(
    from: *const T,
    ld: usize,
    to: *mut T,
    ldc: usize,
    (rows, cols): (usize, usize),
    add: bool,
) {
    for r in 0..rows {
        // SAFETY: the caller vouches for both rectangles, which do not overlap.
        let (from, to) = unsafe {
            (std::slice::from_raw_parts(from.add(r * ld), cols), std::slice::from_raw_parts_mut(to.add(r * ldc), cols))
        };
        for (to, &from) in to.iter_mut().zip(from) {
            *to = if add { T::plus(*to, from) } else { from };
        }
    }
}

/// Transposes a rectangle of `rows × cols`.
unsafe fn turn<T: Copy>(from: *const T, ld: usize, to: *mut T, ld_to: usize, (rows, cols): (usize, usize)) {
    for c in 0..cols {
        for r in 0..rows {
            // SAFETY: the caller vouches for both rectangles.
            unsafe { *to.add(c * ld_to + r) = *from.add(r * ld + c) };
        }
    }
}
