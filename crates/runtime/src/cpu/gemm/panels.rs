//! Packed panels of frozen operands, shared by every program that packs the same data in the same way.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use base::{HashMap, Result};
use program::{Body, Instr, Reg, Ty};
use scalar::DType;
use smallvec::SmallVec;

use super::plan::Operand;
use super::source::Strided;
use crate::cpu::launch::Launch;
use crate::memory::Buffer;

/// What a frozen operand packs, without where its data lies. Equal recipes over equal data make equal panels.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Recipe {
    /// Parameters that it reads, in the order of the key's addresses.
    pub(crate) params: SmallVec<[u16; 2]>,
    /// Element type of the panels.
    pub(crate) ty: Ty,
    pub(crate) elements: Elements,
}

/// Where the elements of a panel come from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Elements {
    /// Read; batch axes, over which nothing varies, are left out.
    Direct(Box<Strided>),
    /// Computed over axes (first number, extents) of lanes and of k, from parameters of these dtypes.
    Computed { body: Body, result: Reg, x: (usize, Vec<i64>), k: (usize, Vec<i64>), lanes_are_rows: bool, dtypes: Vec<DType> },
}

impl Recipe {
    /// Parameters that a body reads, ascending.
    pub(crate) fn params_of(body: &Body) -> SmallVec<[u16; 2]> {
        let read = |i: &Instr| match i {
            Instr::Load { param, .. } | Instr::LoadAt { param, .. } => Some(*param),
            _ => None,
        };
        let mut params: SmallVec<[u16; 2]> = body.code.iter().filter_map(read).collect();
        params.sort_unstable();
        params.dedup();
        params
    }
}

/// Panels, and the data that they were packed from: while it is held, no other data can have its address.
pub(crate) struct Panels {
    buffer: Buffer,
    _data: SmallVec<[Arc<Buffer>; 2]>,
}

impl Panels {
    pub(crate) fn bytes(&self) -> usize {
        self.buffer.len()
    }
}

#[derive(PartialEq, Eq, Hash)]
struct Key {
    recipe: Arc<Recipe>,
    width: usize,
    /// Where the data of the recipe's parameters begins.
    data: SmallVec<[usize; 2]>,
}

/// The panels that live programs keep.
#[derive(Default)]
pub(crate) struct PanelStore(Mutex<Store>);

#[derive(Default)]
struct Store {
    panels: HashMap<Key, Weak<Panels>>,
    packed: u64,
}

/// What a device packed and keeps of frozen operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PanelStats {
    /// Operands packed so far.
    pub packed: u64,
    /// Bytes of panels that live programs keep.
    pub bytes: usize,
}

impl PanelStore {
    fn store(&self) -> MutexGuard<'_, Store> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
    pub(crate) fn stats(&self) -> PanelStats {
        let store = self.store();
        let mut alive = Vec::new();
        store.panels.iter().for_each(|(_, p)| alive.extend(p.upgrade()));
        PanelStats { packed: store.packed, bytes: alive.iter().map(|p| p.bytes()).sum() }
    }
    fn find(&self, key: &Key) -> Option<Arc<Panels>> {
        self.store().panels.get(key).and_then(Weak::upgrade)
    }
    /// Keeps new panels, or gives those that another launch kept meanwhile.
    fn keep(&self, key: Key, panels: Panels) -> Arc<Panels> {
        let mut store = self.store();
        store.packed += 1;
        if let Some(known) = store.panels.get(&key).and_then(Weak::upgrade) {
            return known;
        }
        let panels = Arc::new(panels);
        store.panels.retain(|_, p| p.strong_count() > 0);
        store.panels.insert(key, Arc::downgrade(&panels));
        panels
    }
}

impl fmt::Debug for PanelStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.stats().fmt(f)
    }
}

impl Operand {
    /// The kept panels of a frozen operand, packed now if no live program has packed the same.
    pub(super) fn kept(
        &self,
        recipe: &Arc<Recipe>,
        width: usize,
        launch: &Launch<'_>,
        pack: impl FnOnce() -> Result<Buffer>,
    ) -> Result<*mut u8> {
        if let Some(kept) = self.kept.get() {
            return Ok(kept.buffer.as_ptr());
        }
        let owners: Option<SmallVec<[Arc<Buffer>; 2]>> =
            recipe.params.iter().map(|&p| launch.owners.get(usize::from(p)).copied().flatten().cloned()).collect();
        let panels = match owners {
            None => Arc::new(Panels { buffer: pack()?, _data: SmallVec::new() }),
            Some(owners) => {
                let data = recipe.params.iter().map(|&p| launch.params[usize::from(p)] as usize).collect();
                let key = Key { recipe: recipe.clone(), width, data };
                match launch.panels.find(&key) {
                    Some(known) => known,
                    None => launch.panels.keep(key, Panels { buffer: pack()?, _data: owners }),
                }
            }
        };
        Ok(self.kept.get_or_init(|| panels).buffer.as_ptr())
    }
}
