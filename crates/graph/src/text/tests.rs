use scalar::{Combiner, DType, Scalar, ScalarOp, Sym};

use super::{parse, parse_all, print};
use crate::{Builder, ContractSpec, Graph, NodeId, Op, Origin, OriginId, verify};

/// Every op, view, write and region, with origins, guards, facts and flags.
const EVERYTHING: &str = r#"
# a comment of its own line
func "every thing"(x: f32[n, 8], w: frozen f32[8, 5], "odd \"name\"\n": donated f32[m, 8],
                   late: later frozen f32[n, 8], never: later i64[], i: i64[n, 3], s: i64[], c: bool[]) -> (y, "z/0", i) {
  where n >= 1
  where n <= 4096
  guard m = n "add at model.rs:3: shapes [m, 8] and [n, 8]"
  origin 7 unused @ nowhere.rs:1
  %6 = input late
  %7 = const f32 1.5
  %8 = const f32 0x7fc00001
  %9 = const bool true
  %10 = const u64 18446744073709551615
  %11 = const bf16 -inf
  %12 = sym 2*n + min(n, 3)
  %13 = iota n
  %14 = add %x, %2   # residual @ model.rs:3
  %15 = select %17b, %14, %x   # odd
  return y = %14
}
"#;

fn everything() -> Graph {
    let mut text = EVERYTHING.to_owned();
    let body = r#"
  %17b = lt %x, %late
  %15 = select %17b, %14, %x   # select @ model.rs:4
  %16 = cast.i32 %15   # select @ model.rs:4
  %17 = philox.3 %s, %s   # 3 "2 x" @ " spaced "
  %18 = fma %15, %15, %15   # 12 ""
  %19 = reduce.sum %15 [0, 1]
  %20 = reduce.argmax %15 [1]
  %21 = result %20 [1]
  %22 = scan.affine %15, %15 [0]
  %23 = view.reshape %15 [2, n, 4]
  %24 = view.permute %15 [1, 0]
  %25 = view.reshape %15 [n, 1, 8]
  %26 = view.expand %25 [n, 7, 8]
  %27 = view.slice %15 start [0, 1] len [n, 3] step [1, 2]
  %28 = view.flip %15 [0, 1]
  %29 = view.pad %15 lo [0, 1] hi [n, 0] interior [0, 2] value -0.0
  %30 = view.window %15 axis 1 stride 2 dilation 1 size 3
  %31 = concat %x, %late [1]
  %32 = contract %x, %w "nk,kj->nj" acc f32   # matmul
  %33 = contract %x, %w "<0><1>,<1>z-><0>z" acc f64
  %34 = gather %x, %i [1]
  %35 = write.set.slice %x, %34 start [0, 1] step [1, 2]
  %36 = write.max.dynamic %x, %34, %s [1]
  %37 = write.add.indices %x, %34, %i [1]
  %38 = write.mul.indices %x, %34, %i [1] unique
  %39 = call sort %x {axis = 1, descending = 1}
  %40 = materialize %x
  %41 = if %c, %x {
    func then(a: f32[n, 8]) -> (r) {
      %1 = exp %a   # inner @ body.rs:1
      return r = %1
    }
    func else(a: f32[n, 8]) {
      return r = %a
    }
  } : f32[n, 8]   # cond
  %42 = loop %19, %x, %c carried 1 scanned 1 trip n {
    func step(t: i64[], h: f32[], x: f32[8], flag: bool[]) {
      %4 = reduce.sum %x [0]
      %5 = add %4, %h
      return h = %5, x = %x
    }
  }
  %43 = result %42 [1]
  return y = %43, "z/0" = %41, i = %i
}
"#;
    text.truncate(text.find("  %15 = select").unwrap());
    text.push_str(&body[1..]);
    parse("everything.t", &text).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn everything_parses_back() {
    let g = everything();
    verify(&g).unwrap();
    assert_eq!(g.name, "every thing");
    assert_eq!(g.inputs[2].name, "odd \"name\"\n");
    assert!(g.inputs[2].donated && g.inputs[1].frozen && !g.inputs[0].frozen);
    assert_eq!(g.nodes[8].op, Op::Const(Scalar::from_bits(DType::F32, 0x7fc0_0001)));
    assert_eq!(g.origins[7].source, "nowhere.rs:1");
    assert_eq!(g.origins[3], Origin { op: "2 x".into(), source: " spaced ".into() });
    assert_eq!(g.guards.len(), 1);
    let printed = print(&g);
    let again = parse("printed.t", &printed).unwrap_or_else(|e| panic!("{e}\n{printed}"));
    assert_eq!(again, g, "{printed}");
    assert_eq!(print(&again), printed);
}

#[test]
fn every_scalar_row_and_combiner_parses_back() {
    let mut b = Builder::new("rows");
    let args: Vec<Vec<NodeId>> =
        DType::ALL.iter().map(|d| (0..3).map(|i| b.input(format!("{d}_{i}"), *d, [4usize], false).unwrap()).collect()).collect();
    for op in ScalarOp::PLAIN.into_iter().chain([ScalarOp::Fma, ScalarOp::Cast(DType::U16)]) {
        let made = args.iter().filter(|a| b.map(op, &a[..op.arity()]).is_ok()).count();
        assert!(made > 0 || op == ScalarOp::Select, "{op:?}");
    }
    for c in Combiner::ALL {
        let made = args.iter().filter(|a| b.reduce(c, &a[..c.info().operands], &[0]).is_ok()).count();
        let scanned = args.iter().filter(|a| b.scan(c, &a[..c.info().operands], 0).is_ok()).count();
        assert!(scanned > 0 && (made > 0 || !c.info().commutative), "{c:?}");
    }
    let g = b.finish();
    assert_eq!(parse("rows.t", &print(&g)).unwrap(), g);
}

#[test]
fn built_graphs_print_as_expected() {
    let mut b = Builder::new("f");
    let n = Sym::named("n");
    let x = b.input("x", DType::F32, [n.clone(), 128.into()], false).unwrap();
    let w = b.with_origin("param", "m.rs:1", |b| b.input("w", DType::F32, [n.clone(), 128.into()], true)).unwrap();
    let y = b.with_origin("add", "m.rs:2", |b| b.map(ScalarOp::Add, &[x, w])).unwrap();
    let z = b.with_origin("add", "m.rs:2", |b| b.map(ScalarOp::Neg, &[y])).unwrap();
    b.output("z", z).unwrap();
    let expected = "\
func f(x: f32[n, 128], w: later frozen f32[n, 128]) -> (z) {
  %1 = input w : f32[n, 128]   # param @ m.rs:1
  %2 = add %0, %1 : f32[n, 128]   # add @ m.rs:2
  %3 = neg %2 : f32[n, 128]   # 3 add @ m.rs:2
  return z = %3
}
";
    let g = b.finish();
    assert_eq!(g.to_string(), expected);
    assert_eq!(parse("f.t", expected).unwrap(), g);
}

#[test]
fn repeated_and_shuffled_origins_parse_back() {
    let mut b = Builder::new("f");
    let x = b.input("x", DType::F32, [4usize], false).unwrap();
    let mut origins = Vec::new();
    for (op, source) in [("a", "1"), ("a", "1"), ("", ""), ("b @ c", ""), ("\"q\"", "\n"), ("5", "@"), ("a", " s"), ("é", "日本")]
    {
        let y = b.with_origin(op, source, |b| {
            b.map(ScalarOp::Philox(origins.len() as u32), &[x, x]).or_else(|_| {
                let bits = Scalar::i64(origins.len() as i64);
                b.constant(bits)
            })
        });
        origins.push(b.graph().node(y.unwrap()).origin);
    }
    for (i, id) in origins.iter().rev().chain(&origins).enumerate() {
        b.set_origin(*id).unwrap();
        b.constant(Scalar::f32(i as f32)).unwrap();
    }
    let g = b.finish();
    assert_eq!(g.origins.len(), 9);
    let text = print(&g);
    assert_eq!(parse("o.t", &text).unwrap_or_else(|e| panic!("{e}\n{text}")), g, "{text}");
}

#[test]
fn duplicate_nodes_stay_as_written() {
    let g = parse("d.t", "func f(x: f32[4]) {\n%a = exp %x\n%b = exp %x\nreturn a = %a, b = %b\n}").unwrap();
    assert_eq!(g.nodes.len(), 3);
    assert_eq!(parse("d.t", &print(&g)).unwrap(), g);
}

#[test]
fn contraction_labels_of_any_byte_parse_back() {
    let mut b = Builder::new("f");
    let x = b.input("x", DType::F32, [2usize, 3], false).unwrap();
    let spec = ContractSpec {
        a: [0, 65].as_slice().into(),
        b: [255, 65].as_slice().into(),
        out: [255, 0].as_slice().into(),
        acc: DType::F64,
    };
    b.contract(spec, x, x).unwrap();
    let g = b.finish();
    assert_eq!(parse("c.t", &print(&g)).unwrap(), g);
}

#[test]
fn several_functions() {
    let text = "func a() {\nreturn\n}\n\n# between\nfunc b() {\nreturn\n}\n";
    assert_eq!(parse_all("m.t", text).unwrap().len(), 2);
    assert_eq!(parse("m.t", text).unwrap_err().to_string(), "m.t:9:1: expected one function, found 2");
    assert_eq!(parse("m.t", "").unwrap_err().to_string(), "m.t:1:1: expected one function, found 0");
}

#[test]
fn an_unstated_equality_becomes_a_guard() {
    let g = parse("g.t", "func f(x: f32[n], y: f32[m]) {\n%2 = add %x, %y   # add @ m.rs:1\nreturn z = %2\n}").unwrap();
    assert_eq!(g.guards[0].reason, "add at m.rs:1: shapes [n] and [m]");
    assert_eq!(parse("g.t", &print(&g)).unwrap(), g);
}

fn error(body: &str) -> String {
    let text = format!("func f(x: f32[n, 4], y: f32[n, 5]) -> (z) {{\n{body}\n}}\n");
    parse("e.t", &text).expect_err(body).to_string()
}

#[test]
fn errors_have_line_column_and_expectation() {
    for (body, message) in [
        ("  %2 = expp %x\n  return z = %2", "e.t:2:8: unknown op 'expp'; did you mean 'exp'?"),
        ("  %2 = reduce.sun %x [0]", "e.t:2:8: unknown op 'reduce.sun'; did you mean 'reduce.sum'?"),
        ("  %2 = write.set.slide %x", "e.t:2:8: unknown op 'write.set.slide'; did you mean 'write.set.slice'?"),
        ("  %2 = exp %z", "e.t:2:12: %z is not defined"),
        ("  %2 = add %x, %y", "e.t:2:8: add(f32[n, 4], f32[n, 5]): shapes [n, 4] and [n, 5] differ: 4 is not 5"),
        ("  %2 = exp %x : f32[n, 5]", "e.t:2:8: the type is f32[n, 4], not f32[n, 5]"),
        ("  %2 = exp %x : f31[n, 5]", "e.t:2:17: unknown dtype 'f31'; did you mean 'f32'?"),
        ("  %0 = exp %x", "e.t:2:3: %0 is defined twice"),
        ("  %2 = exp %x %y", "e.t:2:15: expected the end of the line, found '%'"),
        ("  %2 = const i8 300", "e.t:2:17: 300 does not fit i8"),
        ("  %2 = const f32 abc", "e.t:2:18: 'abc' is not a constant of f32"),
        ("  %2 = iota n +", "e.t:2:13: in expression 'n +':"),
        ("  %2 = reduce.sum %x [0", "e.t:2:24: expected ',', found the end of the line"),
        ("  %2 = input w", "e.t:2:14: there is no input \"w\""),
        ("  %2 = input x\n  return z = %2", "e.t:1:1: func f: %2 = input: input slot 0 has two nodes"),
        ("  %2 = iota k\n  return z = %2", "e.t:1:1: func f: %2 = iota: dimension k is not bound by any input's shape"),
        ("  where n >", "e.t:2:3: in fact 'n >':"),
        ("  guard n = 4", "e.t:2:14: expected '\"', found the end of the line"),
        ("  guard n = 4 \"ab\\q\"", "e.t:2:18: unknown escape in a string"),
        ("  guard n = 4 \"ab", "e.t:2:15: this string is not closed on its line"),
        ("  hello", "e.t:2:3: expected a statement"),
        ("  return y = %x", "e.t:1:1: the outputs after '->' are not those that are returned"),
        ("  return z = %x, z = %y", "e.t:2:18: output \"z\" is declared twice"),
        ("  return z = %x\n  %3 = exp %x", "e.t:3:3: expected '}', found '%'"),
        ("  origin 0 a @ b", "e.t:2:3: origin 0 is"),
        ("  origin 99999999 a @ b", "e.t:2:3: a text has at most 1000000 origins"),
        ("  %2 = exp %x # 1 a\n  %3 = neg %x # 1 b", "e.t:3:8: origin 1 is \"a\" already"),
        ("  %2 = contract %x, %y \"ab,ac\" acc f32", "e.t:2:24: expected a form like"),
        ("  %2 = call sort %x {axis = 1, axis = 2}", "e.t:2:32: attribute \"axis\" is given twice"),
    ] {
        let got = error(body);
        assert!(got.starts_with(message), "{body}\n  gives  {got}\n  wanted {message}");
    }
}

#[test]
fn deep_nesting_is_an_error() {
    let nest = |depth: usize| {
        let mut text = String::from("func f(c: bool[]) {\n");
        for _ in 0..depth {
            text.push_str("%1 = if %c, %c {\nfunc a(c: bool[]) {\nreturn r = %c\n}\nfunc b(c: bool[]) {\n");
        }
        for _ in 0..depth {
            text.push_str("return r = %c\n}\n}\n");
        }
        text + "return r = %c\n}\n"
    };
    parse("deep.t", &nest(8)).unwrap();
    assert!(parse("deep.t", &nest(40)).unwrap_err().to_string().contains("bodies nest at most 32 deep"));
    assert!(parse("deep.t", &"func f(c: f32[(".repeat(10_000)).is_err());
    let deep = format!("func f(x: f32[{}n{}]) {{\nreturn\n}}", "(".repeat(900), ")".repeat(900));
    assert!(parse("deep.t", &deep).unwrap_err().to_string().contains("nested"));
}

#[test]
fn exploding_expressions_end() {
    let factors: Vec<String> = (0..60).map(|i| format!("(a{i} + b{i})")).collect();
    let _ = parse("big.t", &format!("func f(x: f32[{}]) {{\nreturn\n}}", factors.join("*")));
    let huge =
        "func f(x: f32[9223372036854775807, 9223372036854775807]) {\n%1 = reduce.sum %x [0]\n%2 = view.reshape %x [n]\nreturn\n}";
    assert!(parse("huge.t", huge).is_err());
}

/// A small generator of pseudo-random numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

fn mutate(text: &str, random: &mut Random) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=random.below(3) {
        let (i, j) = (random.below(bytes.len()), random.below(bytes.len()));
        let (i, j) = (i.min(j), i.max(j));
        match random.below(8) {
            0 => bytes.truncate(j),
            1 => drop(bytes.drain(i..(i + random.below(6)).min(bytes.len()))),
            2 => bytes[i] = random.next() as u8,
            3 => bytes[i] = b"0123456789%[](){},:=#@\"\\-nx. \n"[random.below(30)],
            4 => bytes.insert(i, b"0123456789%[](){},:=#@\"\\-nx. \n"[random.below(30)]),
            5 => bytes.swap(i, j),
            6 => {
                let piece = bytes[i..j.min(i + 40)].to_vec();
                let at = random.below(bytes.len());
                bytes.splice(at..at, piece);
            }
            _ => {
                let number = ["9223372036854775807", "4294967296", "-1", "0", "1e9", "nan"][random.below(6)];
                bytes.splice(i..i, number.bytes());
            }
        }
        if bytes.is_empty() {
            break;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn no_text_panics_and_accepted_graphs_verify() {
    let base = print(&everything());
    let mut random = Random(1);
    let mut accepted = 0;
    for _ in 0..8_000 {
        let text = mutate(&base, &mut random);
        if let Ok(graph) = parse("mutated.t", &text) {
            accepted += 1;
            verify(&graph).unwrap_or_else(|e| panic!("{e}\n{text}"));
            let printed = print(&graph);
            assert_eq!(parse("again.t", &printed).unwrap_or_else(|e| panic!("{e}\n{printed}")), graph, "{printed}");
        }
    }
    assert!(accepted > 200, "{accepted} of 8000");
}

#[test]
fn origins_keep_ids_of_the_table() {
    let g = everything();
    assert_eq!(g.nodes.iter().map(|n| n.origin).max(), g.ids().map(|i| g.node(i).origin).max());
    assert!(g.nodes.iter().any(|n| n.origin == OriginId(12)));
}
