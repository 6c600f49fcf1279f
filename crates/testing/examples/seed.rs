//! temporary
fn main() {
    for a in std::env::args().skip(1) {
        let (p, s) = a.split_once(':').unwrap();
        let profile = if p == "tame" { testing::generate::Profile::Tame } else { testing::generate::Profile::Exact };
        let case = testing::differential::seeded_case(s.parse().unwrap(), profile).unwrap();
        println!("{}", graph::text::print(&case.graph));
        for i in &case.inputs { println!("{:?} {:?}", i, (0..i.len().min(12)).map(|k| i.get(k).as_f64()).collect::<Vec<_>>()); }
    }
}
