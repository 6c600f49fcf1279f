//! temporary
use std::collections::BTreeMap;
fn main() {
    let dir = std::env::args().nth(1).unwrap();
    let (from, to): (u64, u64) = (std::env::args().nth(2).unwrap().parse().unwrap(), std::env::args().nth(3).unwrap().parse().unwrap());
    for seed in from..to {
        for (name, profile) in [("tame", testing::generate::Profile::Tame), ("exact", testing::generate::Profile::Exact)] {
            let Ok(case) = testing::differential::seeded_case(seed, profile) else { continue };
            if to - from < 5 { println!("{}", graph::text::print(&case.graph)); for i in &case.inputs { println!("{:?} {:?}", i, (0..i.len().min(12)).map(|k| i.get(k).as_f64()).collect::<Vec<_>>()); } }
            for (suffix, numerics, fuse) in [("", base::Numerics::Wide, true), ("_eager", base::Numerics::Eager, false)] {
                let config = base::Config { numerics, fuse, ..base::Config::default() };
                let run = || -> base::Result<()> {
                    let plan = driver::passes(&case.graph, &BTreeMap::new(), &kernel::Target::cuda(), &config)?.plan;
                    let shapes: Vec<&[usize]> = case.inputs.iter().map(|t| t.shape()).collect();
                    let Ok(dims) = graph::interp::bind_from(&case.graph, &shapes, BTreeMap::new()) else { return Ok(()) };
                    for (n, k) in plan.kernels.iter().enumerate() {
                        match driver::cuda_program(&plan, k, &dims, &config) {
                            Ok(p) => if !p.source.is_empty() { std::fs::write(format!("{dir}/{name}{seed}{suffix}_{n}.cu"), &p.source).unwrap(); },
                            Err(e) => println!("{name}{seed}{suffix} {n} {}: ERROR {e}", k.name),
                        }
                    }
                    Ok(())
                };
                if let Err(e) = run() { println!("{name}{seed}{suffix}: ERROR {e}"); }
            }
        }
    }
}
