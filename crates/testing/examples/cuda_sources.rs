use std::collections::BTreeMap;
fn main() {
    let dir = std::env::args().nth(1).unwrap();
    for file in std::env::args().skip(2) {
        let text = std::fs::read_to_string(&file).unwrap();
        let body: String =
            text.split("----").next().unwrap().lines().filter(|l| !l.starts_with("test ")).map(|l| format!("{l}\n")).collect();
        let stem = std::path::Path::new(&file).file_stem().unwrap().to_string_lossy().into_owned();
        for (suffix, numerics, fuse) in [("", base::Numerics::Wide, true), ("_eager", base::Numerics::Eager, false)] {
            let config = base::Config { numerics, fuse, ..base::Config::default() };
            let run = || -> base::Result<()> {
                let graph = graph::text::parse("t", &body)?;
                let plan = driver::passes(&graph, &BTreeMap::new(), &kernel::Target::cuda(), &config)?.plan;
                for (n, k) in plan.kernels.iter().enumerate() {
                    match driver::cuda_program(&plan, k, &plan_dims(&plan), &config) {
                        Ok(p) => {
                            println!(
                                "{stem}{suffix} {n} {}: {:?}",
                                p.name,
                                p.steps
                                    .iter()
                                    .map(|s| match s {
                                        program::CudaStep::Launch(l) => format!("{}<{}x{}>", l.entry, l.grid, l.threads),
                                        program::CudaStep::Product(p) => format!("product {}x{}x{}", p.m, p.n, p.k),
                                    })
                                    .collect::<Vec<_>>()
                            );
                            if !p.source.is_empty() {
                                std::fs::write(format!("{dir}/{stem}{suffix}_{n}.cu"), &p.source).unwrap();
                            }
                        }
                        Err(e) => println!("{stem}{suffix} {n} {}: ERROR {e}", k.name),
                    }
                }
                Ok(())
            };
            if let Err(e) = run() {
                println!("{stem}{suffix}: ERROR {e}");
            }
        }
    }
}
fn plan_dims(plan: &fuse::Plan) -> BTreeMap<scalar::Var, i64> {
    let mut dims = BTreeMap::new();
    for i in &plan.graph.inputs {
        for s in &i.ty.shape {
            for v in s.vars() {
                dims.insert(v, 7);
            }
        }
    }
    dims
}
