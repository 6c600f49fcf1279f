//! Symbolic integers against plain arithmetic, on random expressions over small ranges.

use scalar::{Facts, Sym, Var};

struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % below
    }
}

/// An expression as written, evaluated by the definitions.
#[derive(Clone, Debug)]
enum Tree {
    Int(i64),
    Var(&'static str),
    Op(char, Box<Tree>, Box<Tree>),
}

impl Tree {
    fn op(op: char, a: Tree, b: Tree) -> Tree {
        Tree::Op(op, Box::new(a), Box::new(b))
    }
    fn eval(&self, value: &dyn Fn(&str) -> i64) -> Option<i64> {
        let Tree::Op(op, a, b) = self else {
            return Some(match self {
                Tree::Int(c) => *c,
                Tree::Var(v) => value(v),
                Tree::Op(..) => unreachable!(),
            });
        };
        let (a, b) = (a.eval(value)?, b.eval(value)?);
        match op {
            '+' => a.checked_add(b),
            '-' => a.checked_sub(b),
            '*' => a.checked_mul(b),
            '/' if b > 0 => Some((a as f64 / b as f64).floor() as i64),
            '%' if b > 0 => Some(((a % b) + b) % b),
            '/' | '%' => None,
            'm' => Some(a.min(b)),
            _ => Some(a.max(b)),
        }
    }
    fn sym(&self) -> Sym {
        match self {
            Tree::Int(c) => Sym::from(*c),
            Tree::Var(v) => Sym::named(v),
            Tree::Op(op, a, b) => {
                let (a, b) = (a.sym(), b.sym());
                match op {
                    '+' => a + b,
                    '-' => a - b,
                    '*' => a * b,
                    '/' => a.floor_div(&b),
                    '%' => a.modulo(&b),
                    'm' => a.min(b),
                    _ => a.max(b),
                }
            }
        }
    }
}

const VARS: [&str; 7] = ["n", "m", "i", "j", "k", "c", "s"];
const DIMS: [&str; 3] = ["n", "m", "s"];

fn divisor(r: &mut Random) -> Tree {
    let int = |r: &mut Random| Tree::Int(1 + r.next(6) as i64);
    let dim = |r: &mut Random| Tree::Var(DIMS[r.next(3)]);
    match r.next(6) {
        0 | 1 => int(r),
        2 => dim(r),
        3 => Tree::op('*', dim(r), int(r)),
        4 => Tree::op('*', dim(r), dim(r)),
        _ => Tree::op('+', dim(r), int(r)),
    }
}

fn tree(r: &mut Random, depth: usize) -> Tree {
    if depth == 0 || r.next(8) == 0 {
        return if r.next(4) == 0 { Tree::Int(r.next(9) as i64 - 3) } else { Tree::Var(VARS[r.next(VARS.len())]) };
    }
    let a = tree(r, depth - 1);
    match r.next(12) {
        0..=2 => Tree::op('+', a, tree(r, depth - 1)),
        3 => Tree::op('-', a, tree(r, depth - 1)),
        4 | 5 => Tree::op('*', a, if r.next(2) == 0 { divisor(r) } else { tree(r, depth - 1) }),
        6 | 7 => Tree::op('/', a, divisor(r)),
        8 | 9 => Tree::op('%', a, divisor(r)),
        10 => Tree::op('m', a, tree(r, depth - 1)),
        _ => Tree::op('M', a, tree(r, depth - 1)),
    }
}

/// A flattened index `(i·m + j)·4 + k` and the like, divided and taken modulo: what reshapes make.
fn index_map(r: &mut Random) -> Tree {
    let mut flat = Tree::Int(0);
    let axes = [("i", Tree::Var("n")), ("j", Tree::Var("m")), ("k", Tree::Int(4))];
    let start = r.next(3);
    for turn in 0..2 + r.next(2) {
        let (axis, extent) = axes[(start + turn) % 3].clone();
        flat = Tree::op('+', Tree::op('*', flat, extent), Tree::Var(axis));
    }
    for _ in 0..1 + r.next(3) {
        flat = match r.next(5) {
            0 | 1 => Tree::op('/', flat, divisor(r)),
            2 | 3 => Tree::op('%', flat, divisor(r)),
            _ => {
                let d = divisor(r);
                let back = Tree::op('*', Tree::op('/', flat.clone(), d.clone()), d.clone());
                Tree::op('+', back, Tree::op('%', flat, d))
            }
        };
    }
    flat
}

/// `i < n`, `j < m`, `k < 4`, `c % 4 == 0`, `c <= 8`, `n·m == s`, `n, m <= 3`.
fn facts() -> Facts {
    let mut f = Facts::default();
    for line in ["i < n", "j < m", "k < 4", "c % 4 == 0", "c <= 8", "n <= 3", "m <= 3", "s == m*n"] {
        f.parse_line(line).unwrap();
    }
    f
}

/// Every assignment that satisfies [`facts`] and is a point of the space, in the order of `VARS`.
fn assignments() -> Vec<[i64; 7]> {
    let mut all = Vec::new();
    for n in 1..=3 {
        for m in 1..=3 {
            for (i, j) in (0..n).flat_map(|i| (0..m).map(move |j| (i, j))) {
                for (k, c) in [(0, 0), (0, 8), (1, 4), (2, 8), (3, 0), (3, 4)] {
                    all.push([n, m, i, j, k, c, n * m]);
                }
            }
        }
    }
    all
}

fn lookup(point: &[i64; 7], name: &str) -> i64 {
    point[VARS.iter().position(|v| *v == name).expect("a known variable")]
}

fn eval(e: &Sym, point: &[i64; 7]) -> Option<i64> {
    e.eval(&|v| Some(lookup(point, v.name()))).ok()
}

#[test]
fn canonical_form_keeps_the_value() {
    let mut r = Random(0x5eed);
    let points: Vec<[i64; 7]> = (0..40)
        .map(|_| {
            let mut p = [0; 7];
            p.iter_mut().for_each(|x| *x = r.next(6) as i64);
            p
        })
        .collect();
    for _ in 0..30_000 {
        let t = tree(&mut r, 4);
        let e = t.sym();
        assert_eq!(Sym::parse(&e.to_string()), Ok(e.clone()), "text of {t:?}");
        for p in &points {
            if let Some(want) = t.eval(&|v| lookup(p, v)) {
                assert_eq!(eval(&e, p), Some(want), "{t:?} became {e} at {VARS:?} = {p:?}");
            }
        }
    }
}

#[test]
fn substitution_commutes_with_evaluation() {
    let mut r = Random(0xabcdef);
    let points = assignments();
    for _ in 0..10_000 {
        let (outer, for_i, for_k) = (tree(&mut r, 3), tree(&mut r, 2), tree(&mut r, 2));
        let e = outer.sym().subst(&|v| match v.name() {
            "i" => Some(for_i.sym()),
            "k" => Some(for_k.sym()),
            _ => None,
        });
        for p in points.iter().step_by(7) {
            let (Some(i), Some(k)) = (for_i.eval(&|v| lookup(p, v)), for_k.eval(&|v| lookup(p, v))) else { continue };
            let inner = |v: &str| match v {
                "i" => i,
                "k" => k,
                _ => lookup(p, v),
            };
            if let Some(want) = outer.eval(&inner) {
                assert_eq!(eval(&e, p), Some(want), "{outer:?} with i = {for_i:?}, k = {for_k:?} became {e} at {p:?}");
            }
        }
    }
}

#[test]
fn simplification_keeps_the_value() {
    let mut r = Random(0x1234_5678);
    let (facts, points) = (facts(), assignments());
    for round in 0..40_000 {
        let t = if round % 2 == 0 { index_map(&mut r) } else { tree(&mut r, 4) };
        let e = t.sym();
        let s = e.simplify(&facts);
        for p in points.iter().step_by(1 + round % 5) {
            if let Some(want) = t.eval(&|v| lookup(p, v)) {
                assert_eq!(eval(&s, p), Some(want), "{e} became {s} at {VARS:?} = {p:?}");
            }
        }
    }
}

#[test]
fn bounds_and_proofs_hold() {
    let mut r = Random(0x9999);
    let (facts, points) = (facts(), assignments());
    let mut proved = 0;
    for round in 0..10_000 {
        let a = if round % 2 == 0 { index_map(&mut r) } else { tree(&mut r, 3) };
        let b = tree(&mut r, 2);
        let (x, y) = (a.sym(), b.sym());
        let (lo, hi) = (facts.min_of(&x), facts.max_of(&x));
        let (ge, lt, eq) = (facts.proves_ge(&x, &y), facts.proves_lt(&x, &y), facts.proves_eq(&x, &y));
        proved += usize::from(ge) + usize::from(lt);
        for p in points.iter().step_by(1 + round % 5) {
            let (Some(u), Some(v)) = (a.eval(&|v| lookup(p, v)), b.eval(&|v| lookup(p, v))) else { continue };
            assert!(lo.is_none_or(|lo| lo <= u) && hi.is_none_or(|hi| u <= hi), "{x} = {u} is outside {lo:?}..{hi:?} at {p:?}");
            assert!(
                (!ge || u >= v) && (!lt || u < v) && (!eq || u == v),
                "{x} = {u}, {y} = {v}: ge {ge}, lt {lt}, eq {eq} at {p:?}"
            );
        }
    }
    assert!(proved > 2000, "only {proved} of 10000 comparisons were decided");
}

#[test]
fn linear_split_reassembles() {
    let mut r = Random(0x77);
    let is_axis = |v: Var| ["i", "j", "k"].contains(&v.name());
    let mut split = 0;
    for _ in 0..20_000 {
        let e = tree(&mut r, 3).sym();
        let Some((coefs, rest)) = e.linear(&is_axis) else { continue };
        split += 1;
        let parts = coefs.iter().map(|(v, c)| Sym::var(*v) * c).sum::<Sym>() + &rest;
        assert_eq!(parts, e);
        assert!(coefs.values().chain([&rest]).all(|c| !c.vars().into_iter().any(is_axis)), "{e}: {coefs:?}, {rest}");
    }
    assert!(split > 5000);
}
