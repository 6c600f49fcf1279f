//! Sizes for dimensions that the user leaves open: usual ones, moved where the model does not allow them.

use std::collections::BTreeMap;

use graph::Graph;
use scalar::{Facts, Sym, Var};

use crate::error::{Failure, Outcome};

/// The usual size of a dimension that is not a batch, then what to try instead, most usual first.
const SIZES: [i64; 16] = [128, 64, 32, 48, 96, 224, 256, 320, 512, 640, 100, 16, 8, 4, 2, 1];

/// Adds sizes for the `open` dimensions (true: a batch) that satisfy all guards and facts of the graph. Gives the names of
/// those that could not have their usual size.
///
/// # Errors
/// No such sizes found; the message names the requirement and the dimensions.
pub(crate) fn choose(graph: &Graph, open: &BTreeMap<Var, bool>, dims: &mut BTreeMap<Var, i64>) -> Outcome<Vec<String>> {
    let usual: BTreeMap<Var, i64> =
        open.iter().map(|(&v, &batch)| (v, within(&graph.facts, v, if batch { 1 } else { SIZES[0] }))).collect();
    dims.extend(usual.clone());
    let mut broken = broken(graph, dims);
    while let Some(first) = broken.first() {
        let movable: Vec<Var> = open.keys().copied().filter(|v| first.vars.contains(v)).collect();
        let Some(better) = improve(graph, &movable, dims, broken.len()) else { return Err(stuck(first, &movable, dims)) };
        *dims = better;
        broken = self::broken(graph, dims);
    }
    Ok(usual.into_iter().filter(|(v, size)| dims[v] != *size).map(|(v, _)| v.name().to_owned()).collect())
}

/// A requirement that sizes do not meet.
struct Broken {
    vars: Vec<Var>,
    reason: String,
}

fn broken(graph: &Graph, dims: &BTreeMap<Var, i64>) -> Vec<Broken> {
    let value = |s: &Sym| s.eval(&|v| dims.get(&v).copied());
    let mut out: Vec<Broken> = Vec::new();
    for guard in &graph.guards {
        if !matches!((value(&guard.left), value(&guard.right)), (Ok(a), Ok(b)) if a == b) {
            let vars = guard.left.vars().into_iter().chain(guard.right.vars()).collect();
            out.push(Broken { vars, reason: guard.reason.clone() });
        }
    }
    if let Err(e) = graph.facts.check(&|v| dims.get(&v).copied()) {
        out.push(Broken { vars: dims.keys().copied().collect(), reason: e.to_string() });
    }
    out
}

/// Other sizes of one dimension, or of two, that leave fewer requirements broken.
fn improve(graph: &Graph, movable: &[Var], dims: &BTreeMap<Var, i64>, count: usize) -> Option<BTreeMap<Var, i64>> {
    let tries = |v: Var| SIZES.map(|n| within(&graph.facts, v, n));
    let better = |trial: &BTreeMap<Var, i64>| broken(graph, trial).len() < count;
    let with = |base: &BTreeMap<Var, i64>, v: Var, n: i64| {
        let mut trial = base.clone();
        trial.insert(v, n);
        trial
    };
    let single = movable.iter().flat_map(|&v| tries(v).map(|n| with(dims, v, n)));
    if let Some(found) = single.into_iter().find(better) {
        return Some(found);
    }
    let pairs = movable.iter().enumerate().flat_map(|(i, &a)| movable[i + 1..].iter().map(move |&b| (a, b)));
    let mut double = pairs.flat_map(|(a, b)| {
        let firsts = tries(a).map(|n| with(dims, a, n));
        firsts.into_iter().flat_map(move |base| tries(b).map(|n| with(&base, b, n))).collect::<Vec<_>>()
    });
    double.find(better)
}

fn stuck(broken: &Broken, movable: &[Var], dims: &BTreeMap<Var, i64>) -> Failure {
    let tried: Vec<String> = broken.vars.iter().filter_map(|v| Some(format!("{v}={}", dims.get(v)?))).collect();
    let names: Vec<&str> = if movable.is_empty() { &broken.vars[..] } else { movable }.iter().map(|v| v.name()).collect();
    let flags: Vec<String> = names.iter().map(|n| format!("--dim {n}=N")).collect();
    Failure::invalid(
        format!("{}: does not hold for {}", broken.reason, tried.join(", ")),
        format!("choose sizes for which it holds: {}", flags.join(" ")),
    )
}

fn within(facts: &Facts, v: Var, size: i64) -> i64 {
    let sym = Sym::from(v);
    let low = facts.min_of(&sym).unwrap_or(0);
    size.clamp(low, facts.max_of(&sym).unwrap_or(i64::MAX).max(low))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(guards: &str) -> Result<(BTreeMap<Var, i64>, Vec<String>), String> {
        let text = format!("func f(x: f32[b, n, m]) {{\n%y = neg %x\n{guards}return y = %y\n}}");
        let graph = graph::text::parse("t", &text).unwrap();
        let open = [("b", true), ("n", false), ("m", false)].map(|(name, batch)| (Var::new(name), batch)).into();
        let mut dims = BTreeMap::new();
        let moved = choose(&graph, &open, &mut dims).map_err(|e| e.render(&crate::term::Style::plain()))?;
        Ok((dims, moved))
    }

    #[test]
    fn usual_sizes_and_moved_ones() {
        let size = |dims: &BTreeMap<Var, i64>, name: &str| dims[&Var::new(name)];
        let (dims, moved) = chosen("").unwrap();
        assert_eq!((size(&dims, "b"), size(&dims, "n"), size(&dims, "m")), (1, 128, 128));
        assert!(moved.is_empty());
        let (dims, moved) = chosen("guard (m + 15)//48 = 1 \"height\"\n").unwrap();
        assert_eq!((size(&dims, "n"), size(&dims, "m"), moved), (128, 64, vec!["m".to_owned()]));
        let (dims, _) = chosen("guard m*n = 48*320 \"area\"\n").unwrap();
        assert_eq!(size(&dims, "m") * size(&dims, "n"), 48 * 320);
    }

    #[test]
    fn what_cannot_hold_is_named() {
        let error = chosen("guard m*m = 48 \"square\"\n").unwrap_err();
        assert!(error.contains("square: does not hold for m=128") && error.contains("--dim m=N"), "{error}");
    }
}
