use scalar::{ScalarOp as S, Sym};

use super::*;

fn graph(shapes: &[&[Sym]], f: impl FnOnce(&mut Builder, &[NodeId]) -> Result<()>) -> Graph {
    let mut b = Builder::new("f");
    let ids: Vec<NodeId> =
        shapes.iter().enumerate().map(|(i, s)| b.input(format!("x{i}"), DType::F32, s.iter(), false).unwrap()).collect();
    f(&mut b, &ids).unwrap();
    b.finish()
}

fn sym(text: &str) -> Sym {
    Sym::parse(text).unwrap()
}

fn values(graph: &Graph, shapes: &[&[usize]]) -> Result<Vec<(String, i64)>> {
    Ok(bind(graph, shapes)?.into_iter().map(|(v, n)| (v.name().to_owned(), n)).collect())
}

#[test]
fn variables_then_linear_expressions() {
    let g = graph(&[&[sym("2*n + m - 1")], &[sym("m"), sym("3*k")]], |_, _| Ok(()));
    let mut got = values(&g, &[&[8], &[3, 12]]).unwrap();
    got.sort();
    assert_eq!(got, [("k".into(), 4), ("m".into(), 3), ("n".into(), 3)]);
}

#[test]
fn wrong_shapes_name_input_expected_and_given() {
    let g = graph(&[&[sym("n"), Sym::from(4)], &[sym("n")]], |_, _| Ok(()));
    let message = |shapes: &[&[usize]]| bind(&g, shapes).unwrap_err().to_string();
    assert_eq!(message(&[&[2, 5], &[2]]), "input x0 is f32[n, 4], got shape [2, 5]: axis 1 should be 4");
    assert_eq!(message(&[&[2, 4], &[3]]), "input x1 is f32[n], got shape [3]: axis 0 should be 2 (n, from the other extents)");
    assert_eq!(message(&[&[2], &[2]]), "input x0 is f32[n, 4], got shape [2]: rank 2 is expected");
    assert!(message(&[&[2, 4]]).contains("takes 2 inputs, got 1"));
}

#[test]
fn undetermined_dimensions_are_an_error() {
    let g = graph(&[&[sym("n*m")]], |_, _| Ok(()));
    assert!(bind(&g, &[&[6]]).unwrap_err().to_string().contains("does not determine"));
    let g = graph(&[&[sym("2*n")]], |_, _| Ok(()));
    assert!(bind(&g, &[&[7]]).is_err());
}

#[test]
fn guards_and_facts_are_checked() {
    let g = graph(&[&[sym("n")], &[sym("m")]], |b, x| b.with_origin("add", "model.rs:12", |b| b.map(S::Add, x)).map(|_| ()));
    assert_eq!(values(&g, &[&[3], &[3]]).unwrap().len(), 2);
    let text = bind(&g, &[&[3], &[4]]).unwrap_err().to_string();
    assert!(text.contains("model.rs:12") && text.contains("n is 3") && text.contains("m is 4"), "{text}");
    let mut b = Builder::new("f");
    b.input("x", DType::F32, [sym("n")], false).unwrap();
    b.facts_mut().parse_line("n % 8 == 0").unwrap();
    let text = bind(&b.finish(), &[&[12]]).unwrap_err().to_string();
    assert_eq!(text, "graph f: the graph assumes n % 8 == 0, but n is 12");
}

#[test]
fn dtypes_and_counts_are_checked_by_run() {
    let g = graph(&[&[sym("n")]], |b, x| b.output("y", x[0]));
    let e = run(&g, &[i64s(&[1], &[1])], Options::default()).unwrap_err();
    assert_eq!(e.to_string(), "input x0 is f32[n], got i64[1]");
    assert!(run(&g, &[], Options::default()).unwrap_err().to_string().contains("takes 1 inputs (x0), got 0"));
}
