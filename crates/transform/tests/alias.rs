//! In-place decisions on generated programs whose inputs are all donated.

use graph::{Graph, NodeId, Op};
use testing::differential::seeded_case;
use testing::generate::Profile;
use transform::{Alias, WriteMode, alias};

/// `before[a][b]`: a runs before b in every order that respects operands and the decided edges.
fn before(g: &Graph, decided: &[Alias]) -> Vec<Vec<bool>> {
    let n = g.nodes.len();
    let mut reach = vec![vec![false; n]; n];
    for id in g.ids() {
        g.node(id).args.iter().for_each(|a| reach[a.index()][id.index()] = true);
    }
    for a in decided {
        a.after.iter().for_each(|r| reach[r.index()][a.write.index()] = true);
    }
    for k in 0..n {
        for i in 0..n {
            if reach[i][k] {
                let through = reach[k].clone();
                reach[i].iter_mut().zip(through).for_each(|(r, t)| *r |= t);
            }
        }
    }
    reach
}

/// The node whose buffer a value shows: through views, and through writes in place.
fn buffer(g: &Graph, decided: &[Alias], mut id: NodeId) -> NodeId {
    loop {
        let in_place = decided.iter().any(|a| a.write == id && a.mode == WriteMode::InPlace);
        match g.node(id).op {
            Op::View(_) => id = g.node(id).args[0],
            Op::Write(..) if in_place => id = g.node(id).args[0],
            _ => return id,
        }
    }
}

#[test]
fn nothing_reads_what_was_overwritten() {
    let (mut in_place, mut functional) = (0, 0);
    for seed in 0..1500 {
        let mut g = seeded_case(seed, Profile::Any).expect("generated").graph;
        g.inputs.iter_mut().for_each(|i| i.donated = true);
        let decided = alias(&g);
        let before = before(&g, &decided);
        assert!(g.ids().all(|id| !before[id.index()][id.index()]), "the order has a cycle\n{g}");
        for a in &decided {
            if a.mode == WriteMode::Functional {
                functional += 1;
                continue;
            }
            in_place += 1;
            let shared = buffer(&g, &decided, a.write);
            // A value of the same buffer that does not come from this write is older: all its reads come first.
            let older = |v: NodeId| {
                let newer = v == a.write || before[a.write.index()][v.index()];
                buffer(&g, &decided, v) == shared && !newer
            };
            for reader in g.ids().filter(|&id| id != a.write && !matches!(g.node(id).op, Op::View(_))) {
                if g.node(reader).args.iter().any(|&v| older(v)) {
                    assert!(before[reader.index()][a.write.index()], "{reader:?} may read after {:?}\n{g}", a.write);
                }
            }
            assert!(!g.outputs.iter().any(|o| older(o.value)), "{:?} overwrites a result\n{g}", a.write);
        }
    }
    assert!(in_place > 30 && functional > 30, "{in_place} in place, {functional} functional");
}
