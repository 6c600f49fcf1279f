//! Signatures: an op with the types of its results, found by emitting it into a scratch graph once per distinct combination
//! of op and operand types.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use base::{HashMap, Result, stable_hash};
use graph::{Builder, Guard, TensorType};
use smallvec::{SmallVec, smallvec};

use crate::emit::emit;
use crate::op::Op;
use crate::symbolic::{self, Env};
use crate::tensor::Tensor;

/// Combinations remembered per thread, and types remembered in all, before starting over.
const MEMO: usize = 8192;

/// A type with an identity: equal ids mean equal types.
#[derive(Clone, Debug)]
pub(crate) struct Typed {
    id: u64,
    pub(crate) ty: TensorType,
}

/// What a node is up to its operands and data.
#[derive(Debug)]
pub(crate) struct Signature {
    /// Leaves have none.
    pub(crate) op: Option<Op>,
    pub(crate) results: SmallVec<[Typed; 1]>,
    /// What the values of symbolic extents must satisfy.
    pub(crate) guards: Vec<Guard>,
    /// Hash of the op, or of a leaf's type.
    pub(crate) hash: u64,
    /// Whether anything in it is symbolic.
    pub(crate) symbolic: bool,
}

impl PartialEq for Signature {
    /// Whether the same is computed from the same operands.
    fn eq(&self, other: &Signature) -> bool {
        self.op == other.op && (self.op.is_some() || self.results[0].ty == other.results[0].ty)
    }
}

type Key = (Op, SmallVec<[u64; 3]>);

thread_local! {
    static OPS: RefCell<HashMap<Key, Arc<Signature>>> = RefCell::default();
    static LEAVES: RefCell<HashMap<TensorType, Arc<Signature>>> = RefCell::default();
}

fn typed(ty: TensorType) -> Typed {
    static TYPES: LazyLock<Mutex<HashMap<TensorType, u64>>> = LazyLock::new(Mutex::default);
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut types = TYPES.lock().unwrap_or_else(PoisonError::into_inner);
    if types.len() >= MEMO && !types.contains_key(&ty) {
        types.clear();
    }
    let id = *types.entry(ty.clone()).or_insert_with(|| NEXT.fetch_add(1, Ordering::Relaxed));
    Typed { id, ty }
}

fn remember<K: std::hash::Hash + Eq>(memo: &mut HashMap<K, Arc<Signature>>, key: K, signature: &Arc<Signature>) {
    if memo.len() >= MEMO {
        memo.clear();
    }
    memo.insert(key, signature.clone());
}

impl Signature {
    fn new(op: Option<Op>, types: impl IntoIterator<Item = TensorType>, guards: Vec<Guard>) -> Arc<Signature> {
        let results: SmallVec<[Typed; 1]> = types.into_iter().map(typed).collect();
        let hash = op.as_ref().map_or_else(|| stable_hash(&results[0].ty), stable_hash);
        let symbolic = op.as_ref().is_some_and(Op::is_symbolic)
            || !guards.is_empty()
            || results.iter().flat_map(|r| &r.ty.shape).any(|n| n.as_int().is_none());
        Arc::new(Signature { op, results, guards, hash, symbolic })
    }
    /// The signature of a leaf.
    pub(crate) fn leaf(ty: TensorType) -> Arc<Signature> {
        LEAVES.with_borrow_mut(|leaves| {
            if let Some(found) = leaves.get(&ty) {
                return found.clone();
            }
            let made = Signature::new(None, [ty.clone()], Vec::new());
            remember(leaves, ty, &made);
            made
        })
    }
    /// The signature with values for variables.
    pub(crate) fn settled(&self, env: &Env) -> Arc<Signature> {
        let number = |n: &scalar::Sym| env.subst(n);
        let types = self.results.iter().map(|r| TensorType { dtype: r.ty.dtype, shape: r.ty.shape.iter().map(number).collect() });
        Signature::new(self.op.as_ref().map(|op| op.map_syms(number)), types, Vec::new())
    }
}

/// The signature of an op on operands.
pub(crate) fn infer(op: Op, args: &[&Tensor]) -> Result<Arc<Signature>> {
    let key: Key = (symbolic::recorded(op), args.iter().map(|a| a.typed().id).collect());
    if let Some(found) = OPS.with_borrow(|known| known.get(&key).cloned()) {
        return Ok(found);
    }
    let made = scratch(&key.0, args)?;
    OPS.with_borrow_mut(|known| remember(known, key, &made));
    Ok(made)
}

fn scratch(op: &Op, args: &[&Tensor]) -> Result<Arc<Signature>> {
    let mut b = Builder::new("scratch");
    for var in args.iter().flat_map(|a| &a.ty().shape).flat_map(|n| n.vars()) {
        b.facts_mut().set_min(var, 1);
    }
    let input = |(i, a): (usize, &&Tensor)| (format!("x{i}"), a.ty().clone());
    let inputs: SmallVec<[(String, TensorType); 3]> = args.iter().enumerate().map(input).collect();
    let mut nodes: SmallVec<[graph::NodeId; 3]> = smallvec![];
    for (name, ty) in inputs {
        nodes.push(b.input(name, ty.dtype, &ty.shape, false)?);
    }
    let results = emit(&mut b, op, &nodes, 0)?;
    let types: Vec<TensorType> = results.iter().map(|&id| b.graph().tensor(id).clone()).collect();
    Ok(Signature::new(Some(op.clone()), types, b.graph().guards.clone()))
}
