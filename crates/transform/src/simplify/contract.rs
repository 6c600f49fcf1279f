//! Contractions: views of an operand that become labels.

use graph::{ContractSpec, NodeId, Op, View};
use scalar::{Shape, Sym};
use smallvec::SmallVec;

use super::Cx;

super::rules! { contract_of_permute, contract_of_expand, permute_of_contract }

/// One operand of a contraction.
#[derive(Clone, Copy)]
enum Side {
    A,
    B,
}

impl Side {
    fn labels(self, spec: &ContractSpec) -> &SmallVec<[u8; 6]> {
        match self {
            Side::A => &spec.a,
            Side::B => &spec.b,
        }
    }
    fn index(self) -> usize {
        self as usize
    }
    fn other(self) -> Side {
        match self {
            Side::A => Side::B,
            Side::B => Side::A,
        }
    }
    /// The contraction with this side's operand and labels replaced.
    fn replace(
        self,
        cx: &mut Cx<'_>,
        spec: &ContractSpec,
        args: &[NodeId],
        operand: NodeId,
        labels: SmallVec<[u8; 6]>,
    ) -> Option<NodeId> {
        let mut spec = spec.clone();
        match self {
            Side::A => spec.a = labels,
            Side::B => spec.b = labels,
        }
        let mut args = [args[0], args[1]];
        args[self.index()] = operand;
        cx.make(Op::Contract(spec), &args)
    }
}

/// A permuted operand is the operand with permuted labels, if the order of the summed labels stays.
fn contract_of_permute(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let Op::Contract(spec) = op else { return None };
    [Side::A, Side::B].into_iter().find_map(|side| {
        let y = args[side.index()];
        let Op::View(View::Permute(perm)) = cx.op(y).clone() else { return None };
        let mut labels: SmallVec<[u8; 6]> = SmallVec::from_elem(0, perm.len());
        for (&label, &axis) in side.labels(spec).iter().zip(&perm) {
            labels[axis] = label;
        }
        let summed = |ls: &[u8]| ls.iter().copied().filter(|l| !spec.out.contains(l)).collect::<Vec<_>>();
        let x = cx.args(y)[0];
        (summed(&labels) == summed(side.labels(spec))).then(|| side.replace(cx, spec, args, x, labels))?
    })
}

/// An operand repeated along a batch axis lacks that axis: the other operand alone walks it.
fn contract_of_expand(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let Op::Contract(spec) = op else { return None };
    [Side::A, Side::B].into_iter().find_map(|side| {
        let y = args[side.index()];
        let Op::View(View::Expand(full)) = cx.op(y).clone() else { return None };
        let x = cx.args(y)[0];
        let narrow = cx.shape(x).clone();
        let labels = side.labels(spec);
        let batch = |i: usize| spec.out.contains(&labels[i]) && side.other().labels(spec).contains(&labels[i]);
        let drop = |i: usize| batch(i) && narrow[i].is_one() && !full[i].is_one();
        let kept: Vec<usize> = (0..labels.len()).filter(|&i| !drop(i)).collect();
        if kept.len() == labels.len() {
            return None;
        }
        let pick = |s: &Shape| kept.iter().map(|&i| s[i].clone()).collect::<SmallVec<[Sym; 4]>>();
        let squeezed = cx.view(View::Reshape(pick(&narrow)), x)?;
        let operand = cx.view(View::Expand(pick(&full)), squeezed)?;
        let labels = kept.iter().map(|&i| labels[i]).collect();
        side.replace(cx, spec, args, operand, labels)
    })
}

/// A product that is only read permuted is computed in that order, so that readers of memory meet axes that merge: attention's
/// heads side by side are one contracted axis of the projection after it. The innermost axis stays, for whole vectors to be stored.
fn permute_of_contract(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let Op::View(View::Permute(perm)) = op else { return None };
    let Op::Contract(spec) = cx.op(args[0]) else { return None };
    if perm.last().is_none_or(|&axis| axis + 1 != perm.len()) || !cx.is_used_once(args[0]) {
        return None;
    }
    let spec = ContractSpec { out: perm.iter().map(|&axis| spec.out[axis]).collect(), ..spec.clone() };
    let operands = cx.args(args[0]).to_vec();
    cx.make(Op::Contract(spec), &operands)
}
