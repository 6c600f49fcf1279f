//! Homes of registers in the arena.

use std::collections::BTreeMap;

use program::{Body, Reg};
use smallvec::SmallVec;

use super::code::RegInfo;
use super::peephole::Pairing;
use super::prepare::List;

/// Sizes that registers have to hold.
#[derive(Clone, Debug)]
pub(crate) struct Extents {
    /// Most (rows, columns) of a tile.
    pub(crate) tile: (usize, usize),
    /// (rows, columns) of resident registers: the whole axis where a stage loops over it.
    pub(crate) whole: (usize, usize),
    /// Inner axes that are neither rows nor columns, outermost first, with their extents.
    pub(crate) inner: SmallVec<[(usize, usize); 4]>,
}

/// The arena.
pub(crate) struct Plan {
    /// Bytes.
    pub(crate) arena: usize,
    /// Offset of the conversion buffer.
    pub(crate) temp: usize,
}

/// Cache line; homes start on one, and are one line longer than needed so that equal tiles do not share cache sets.
const LINE: usize = 64;

fn bytes(info: &RegInfo, e: &Extents) -> usize {
    let (rows, cols) = if info.resident != 0 { e.whole } else { e.tile };
    let slots: usize = e.inner.iter().filter(|(axis, _)| info.resident >> axis & 1 == 1).map(|i| i.1).product();
    let elements = slots * if info.rows { rows } else { 1 } * if info.cols { cols } else { 1 };
    (elements * info.size).next_multiple_of(LINE) + LINE
}

/// Gives every register a home. Registers that live inside one run of one list share homes by liveness, which keeps a
/// tile's working set in L1; accumulators, residents and values that cross lists have homes of their own.
pub(crate) fn assign(regs: &mut [RegInfo], lists: &[List<'_>], pairings: &[Pairing], extents: &Extents) -> Plan {
    let mut next = 0;
    let mut take = |size: usize| {
        next += size;
        next - size
    };
    let lives = lives(regs.len(), lists, pairings);
    for (info, life) in regs.iter_mut().zip(&lives) {
        if info.resident != 0 || life.is_none() {
            info.home = take(bytes(info, extents));
        }
    }
    let mut free: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for list in 0..lists.len() {
        let mut local: Vec<(usize, usize, usize)> = Vec::new();
        for (reg, life) in lives.iter().enumerate() {
            if let Some(life) = life.filter(|l| l.list == list && regs[reg].resident == 0) {
                local.push((life.from, life.to, reg));
            }
        }
        local.sort_unstable();
        let mut live: Vec<(usize, usize, usize)> = Vec::new();
        for (from, to, reg) in local {
            live.retain(|&(end, size, home)| {
                if end < from {
                    free.entry(size).or_default().push(home);
                }
                end >= from
            });
            let size = bytes(&regs[reg], extents);
            let home = free.get_mut(&size).and_then(Vec::pop).unwrap_or_else(|| take(size));
            regs[reg].home = home;
            live.push((to, size, home));
        }
        live.iter().for_each(|&(_, size, home)| free.entry(size).or_default().push(home));
    }
    // A broadcast store converts one row while it holds another.
    let temp = take((extents.tile.0 * extents.tile.1).max(Body::MAX_TILE) * 2 * 8 + LINE);
    Plan { arena: next, temp }
}

/// Steps of one list between which a register is alive, both included.
#[derive(Clone, Copy)]
struct Life {
    list: usize,
    from: usize,
    to: usize,
}

/// Lives of the registers that are defined and used in one list only; `None` for all others.
fn lives(count: usize, lists: &[List<'_>], pairings: &[Pairing]) -> Vec<Option<Life>> {
    let mut lives: Vec<Option<Life>> = vec![None; count];
    let mut crosses = vec![false; count];
    for (number, (list, pairing)) in lists.iter().zip(pairings).enumerate() {
        let accs = list.init.iter().flat_map(|(_, accs)| accs);
        accs.chain(&list.result).for_each(|&r| crosses[usize::from(r)] = true);
        for (at, instr) in list.code.iter().enumerate() {
            let constant = matches!(instr, program::Instr::Const { .. });
            let mut touch = |reg: Reg, defines: bool| {
                let (reg, at) = (usize::from(reg), pairing.runs_at(at));
                match &mut lives[reg] {
                    Some(life) if life.list == number => life.to = life.to.max(at),
                    None if defines && !constant => lives[reg] = Some(Life { list: number, from: at, to: at }),
                    _ => crosses[reg] = true,
                }
            };
            instr.reads().iter().for_each(|&r| touch(r, false));
            instr.writes().iter().for_each(|&r| touch(r, true));
        }
    }
    lives.iter().zip(&crosses).map(|(life, crosses)| life.filter(|_| !crosses)).collect()
}
