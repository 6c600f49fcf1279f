//! Symbolic integers and facts by example.

use scalar::{Facts, Sym, Var};

fn sym(text: &str) -> Sym {
    Sym::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn facts(lines: &[&str]) -> Facts {
    let mut f = Facts::default();
    for line in lines {
        f.parse_line(line).unwrap_or_else(|e| panic!("{line}: {e}"));
    }
    f
}

fn check(facts_: &[&str], cases: &[(&str, &str)]) {
    let f = facts(facts_);
    let wrong: Vec<String> = cases
        .iter()
        .map(|(from, to)| (from, sym(from).simplify(&f), sym(to)))
        .filter(|(_, got, want)| got != want)
        .map(|(from, got, want)| format!("{from}: got {got}, want {want}"))
        .collect();
    assert!(wrong.is_empty(), "under {facts_:?}\n{}", wrong.join("\n"));
}

#[test]
fn canonical_at_construction() {
    check(
        &[],
        &[
            ("x//1 + x%1", "x"),
            ("7//2 + (0 - 7)//2", "-1"),
            ("(4*a)//4", "a"),
            ("(4*a + b)//4", "a + b//4"),
            ("(4*a + b)%4", "b%4"),
            ("(x//3)//5", "x//15"),
            ("(n*h*a + b)//(n*h)", "a + b//(n*h)"),
            ("(n*h*a + b)%(n*h)", "b%(n*h)"),
            ("(x//n)//h", "x//(n*h)"),
            ("(6*a + 2*b + 1)//4", "a + (a + b)//2"),
            ("(n*a)//(n*c)", "a//c"),
            ("(x%12)%4", "x%4"),
            ("(x%4)%12", "x%4"),
            ("(x%12)//4", "(x//4)%3"),
            ("(x//4)*4 + x%4", "x"),
            ("3*n*(x//n) + 3*(x%n)", "3*x"),
            ("(x//(n*m))*m + (x//n)%m", "x//n"),
            ("min(a, min(b, a + 2))", "min(a, b)"),
            ("max(a, max(a - 1, 3), 5)", "max(a, 5)"),
            ("(n*a + a + b)//(n + 1)", "a + b//(n + 1)"),
            ("(a + b)*(a - b)", "a*a - b*b"),
        ],
    );
}

#[test]
fn reshapes_collapse() {
    let heads = ["b < B", "s < S", "h < H", "d < D"];
    check(
        &heads,
        &[
            ("(h*D + d)//D", "h"),
            ("(h*D + d)%D", "d"),
            ("(((b*S + s)*H + h)*D + d)//(S*H*D)", "b"),
            ("(((b*S + s)*H + h)*D + d)//(H*D)%S", "s"),
            ("(((b*S + s)*H + h)*D + d)//D%H", "h"),
            ("(((b*S + s)*H + h)*D + d)%D", "d"),
            ("((b*S + s)*H*D + h*D + d)%(H*D)", "h*D + d"),
            ("(((b*S + s)*H + h)*D + d)//(2*D)", "((b*S + s)*H + h)//2"),
        ],
    );
    check(&["r < B*S", "e < H*D"], &[("((r//S)*S + r%S)*H*D + (e//D)*D + e%D", "r*H*D + e"), ("(r//S)//B", "0")]);
    check(
        &["b < B", "s < S", "h < 12", "d < 64"],
        &[
            ("(h*64 + d)//64", "h"),
            ("(((b*S + s)*12 + h)*64 + d)//768", "b*S + s"),
            ("(((b*S + s)*12 + h)*64 + d)//768%S", "s"),
            ("(((b*S + s)*12 + h)*64 + d)//(768*S)", "b"),
            ("(((b*S + s)*12 + h)*64 + d)//32%2", "d//32"),
            ("(h*64 + d)//128", "h//2"),
            ("(h*64 + d)%128", "(h%2)*64 + d"),
        ],
    );
    check(
        &["i < 8", "j < 3"],
        &[("(((3*i + j)//4)*4 + (3*i + j)%4)//3", "i"), ("(((3*i + j)//4)*4 + (3*i + j)%4)%3", "j"), ("(3*i + j)//24", "0")],
    );
}

#[test]
fn bounds_resolve_minima_and_divisions() {
    check(
        &["n >= 1", "n <= 512", "i < n", "p < 7"],
        &[
            ("max(n, 1)", "n"),
            ("min(n, 512)", "n"),
            ("min(i, n)", "i"),
            ("max(n - i, 1)", "n - i"),
            ("min(p, 6)", "p"),
            ("max(i - 1, 0 - 1)", "i - 1"),
            ("(p + 1)//8", "0"),
            ("(p - 7)//7", "-1"),
            ("(i - n)//n", "-1"),
            ("(p + 7)%7", "p"),
            ("i%n + p%7", "i + p"),
        ],
    );
    check(
        &["n % 8 == 0", "i < 4"],
        &[
            ("n%4", "0"),
            ("(n//8)*8", "n"),
            ("(n//4)*8", "2*n"),
            ("(n + i)//4", "n//4"),
            ("(n + i)%4", "i"),
            ("(n//4)%2", "0"),
            ("(n*i + 3)%8", "3"),
        ],
    );
    check(
        &["o < (n - 3)//2 + 1"],
        &[("max(n, 3)", "max(n, 3)"), ("(2*o + 2)//n", "0"), ("max(2*o + 3, n)", "n"), ("max(n, 3) + o", "n + o")],
    );
}

#[test]
fn an_extent_is_positive_only_where_its_axis_occurs() {
    check(&["i < n"], &[("max(n, 1)", "max(n, 1)"), ("max(n, 1) + i", "n + i")]);
    check(&["r < B*S"], &[("max(S, 1)", "max(S, 1)"), ("max(S, 1)*r", "S*r")]);
}

#[test]
fn equalities_rewrite() {
    check(&["n == m", "n <= 9"], &[("n - m", "0"), ("min(n, 20)", "m"), ("min(m, 9)", "m"), ("n//m", "1")]);
    check(&["E == H*D", "h < H", "d < D"], &[("(h*D + d)//E", "0"), ("E//D", "H"), ("(E*h + d)%D", "d")]);
    check(&["H*D == 768"], &[("H*D*x", "768*x"), ("(H*D*x)//256", "3*x")]);
    check(&["n + 2 == 2*m + 4"], &[("n//2", "m + 1")]);
    let f = facts(&["a == b", "b == c", "c == 4"]);
    assert!(f.proves_eq(&sym("a*b*c"), &sym("64")));
}

#[test]
fn proofs() {
    let f = facts(&["h < H", "w < W", "r < B*S", "n >= 2", "n <= 9", "j < i", "i < n"]);
    let proves = |text: &str| {
        let (a, b) = text.split_once(" < ").or_else(|| text.split_once(" >= ")).expect("a comparison");
        if text.contains(" < ") { f.proves_lt(&sym(a), &sym(b)) } else { f.proves_ge(&sym(a), &sym(b)) }
    };
    for yes in [
        "h*W + w < H*W",
        "r//S < B",
        "r%S < S",
        "j + 1 < n",
        "n*n >= 2*n",
        "H*W >= h*W + w + 1",
        "min(h, 3) < H",
        "max(h, w) < H + W",
        "h//2 < H",
        "2*(h//2) < H",
        "h - 2*(h//2) < 2",
        "r - (r//S)*S < S",
        "i*n + j < n*n",
        "(h*W + w)//W < H",
        "min(n, 4) >= 2",
    ] {
        assert!(proves(yes), "cannot prove {yes}");
    }
    for no in
        ["h*W + w < H*W - 1", "r//S < B - 1", "H >= W", "n >= 3", "j + 2 < n", "max(h, w) < H", "x < y", "(h*W + w)//H < W - 1"]
    {
        assert!(!proves(no), "wrongly proves {no}");
    }
    assert!(f.proves_eq(&sym("r%S"), &sym("r - S*(r//S)")));
    assert!(f.proves_eq(&sym("min(a, b) + max(a, b) - min(b, a)"), &sym("max(b, a)")));
    assert_eq!((f.min_of(&sym("n - 3")), f.max_of(&sym("2*n"))), (Some(-1), Some(18)));
    assert_eq!((f.min_of(&sym("-H")), f.max_of(&sym("x%7"))), (None, Some(6)));
    assert!(f.divides(&sym("H*W"), &sym("3*H*W*W")) && !f.divides(&sym("2"), &sym("n")));
}

#[test]
fn facts_print_and_parse() {
    let lines = ["E == D*H", "b <= 512", "b >= 1", "b%8 == 0", "j < n - 1"];
    let f = facts(&lines);
    assert_eq!(f.lines(), ["b >= 1", "b <= 512", "b % 8 == 0", "j < n - 1", "D*H == E"]);
    let printed = f.lines();
    assert_eq!(facts(&printed.iter().map(String::as_str).collect::<Vec<_>>()), f);
    for bad in ["n", "3 >= 1", "n >= m", "n < ", "n == ", "n % 0 == 0", "<= 3", "n ! 3"] {
        assert!(Facts::default().parse_line(bad).is_err(), "{bad}");
    }
    let mut f = f;
    f.clear_var(Var::new("n"));
    f.clear_var(Var::new("H"));
    assert_eq!(f.lines(), ["b >= 1", "b <= 512", "b % 8 == 0"]);
}

#[test]
fn queries() {
    let e = sym("4*i*W + (j + 1)//2 + min(n, 3)%k");
    assert_eq!(e.vars().into_iter().map(Var::name).collect::<Vec<_>>(), ["W", "i", "j", "k", "n"]);
    assert!(e.mentions(Var::new("k")) && !e.mentions(Var::new("z")));
    assert_eq!(e.atoms(), [(sym("j + 1"), sym("2")), (sym("min(n, 3)"), sym("k"))]);
    let (coefs, rest) = e.linear(&|v| v.name() == "i").expect("linear in i");
    assert_eq!((coefs.len(), &coefs[&Var::new("i")], rest), (1, &sym("4*W"), sym("(j + 1)//2 + min(n, 3)%k")));
    assert!(e.linear(&|v| v.name() == "j").is_none());
    assert_eq!(sym("(a + 1)*(b + 2)").exact_div(&sym("b + 2")), Some(sym("a + 1")));
    assert_eq!(sym("6*a*b").exact_div(&sym("4*a")), None);
    assert_eq!(sym("n").ceil_div(&sym("8")).subst(&|_| Some(Sym::from(17))), Sym::from(3));
    let unbound = e.eval(&|v| (v.name() != "k").then_some(1)).expect_err("k has no value");
    assert!(unbound.to_string().contains('k'), "{unbound}");
    assert!(sym("7%k").eval(&|_| Some(0)).is_err());
    assert_eq!(Sym::product([sym("a"), sym("2"), sym("b")]), sym("2*a*b"));
}

#[test]
fn variables_order_by_name() {
    let (z, a) = (Var::new("order_z"), Var::new("order_a"));
    assert!(a < z && Var::new("order_z") == z);
    assert_eq!(sym("order_z + order_a").to_string(), "order_a + order_z");
}

#[test]
fn owned_and_borrowed_minimum_agree() {
    let (a, b) = (sym("a"), sym("b"));
    assert_eq!(Sym::min(&a, &b), a.clone().min(b.clone()));
    assert_eq!(Sym::max(&a, &b), a.clone().max(b.clone()));
}

#[test]
fn overflow_poisons() {
    let big = Sym::from(i64::MAX);
    let x = sym("x");
    for e in [
        &big + 1,
        &big * &big,
        (&x * &big) * 2,
        &x * i64::MAX + &x,
        Sym::from(i64::MIN) * -1,
        x.floor_div(&Sym::ZERO),
        x.modulo(&Sym::from(-3)),
    ] {
        assert!(e.is_overflow() && e.as_int().is_none() && e.eval(&|_| Some(1)).is_err(), "{e}");
        assert!((&e * &Sym::ZERO).is_overflow() && Sym::min(&e, &x).is_overflow());
        assert_eq!(sym(&e.to_string()), e);
    }
    assert!((&x * &x).eval(&|_| Some(i64::MAX)).is_err());
    assert_eq!((&x - &big - 1).eval(&|_| Some(0)).ok(), Some(i64::MIN));
    assert_eq!(sym("-9223372036854775808*x + -9223372036854775808").to_string(), "-9223372036854775808*x + -9223372036854775808");
}

#[test]
fn hostile_input_is_refused() {
    let parens = "(".repeat(100_000);
    assert!(Sym::parse(&parens).is_err());
    assert!(Sym::parse(&"-".repeat(100_000)).is_err());
    assert!(Sym::parse(&format!("{}x", "min(".repeat(5_000))).is_err());
    for bad in ["", "a b", "1 +", "a // ", "99999999999999999999", "min(a", "a)", "µ", "a..//", "min"] {
        assert!(Sym::parse(bad).is_err(), "{bad}");
    }
    let wide = (0..2000).map(|i| format!("(v{i} + w{i})")).collect::<Vec<_>>().join("*");
    assert!(sym(&wide).is_overflow());
    let mut deep = sym("x");
    for i in 0..10_000 {
        deep = (deep * 3 + i).modulo(&sym("n")).floor_div(&sym("m"));
    }
    assert!(deep.is_overflow());
    let mut shared = sym("x");
    for i in 0..200 {
        shared = Sym::min(&shared, &(sym("y") + i)) * &shared;
    }
    assert!(shared.is_overflow());
}

/// Answers are kept with the facts that they hold for, never with others.
#[test]
fn answers_follow_the_facts() {
    let (n, i) = (Sym::named("n"), Sym::named("i"));
    let (row, four) = (Sym::parse("(8*n + i)//8").unwrap(), Sym::from(4));
    let mut facts = Facts::default();
    assert_eq!(row.simplify(&facts), row);
    assert!(!facts.proves_ge(&n, &four) && !facts.proves_eq(&n, &four) && !facts.proves_lt(&i, &four));
    let (mut narrow, mut wide) = (facts.clone(), facts.clone());
    narrow.set_below(Var::new("i"), &four);
    wide.set_below(Var::new("i"), &Sym::from(9));
    assert_eq!(row.simplify(&narrow).to_string(), "n");
    assert_eq!(row.simplify(&wide), row);
    assert!(narrow.proves_lt(&i, &four) && !wide.proves_lt(&i, &four) && !facts.proves_lt(&i, &four));
    facts.set_min(Var::new("n"), 4);
    assert!(facts.proves_ge(&n, &four) && !narrow.proves_ge(&n, &four));
    facts.assume_equal(&n, &four);
    assert!(facts.proves_eq(&n, &four) && !narrow.proves_eq(&n, &four));
    facts.clear_var(Var::new("n"));
    assert!(!facts.proves_ge(&n, &four) && !facts.proves_eq(&n, &four));
    narrow.clear_var(Var::new("i"));
    assert_eq!(narrow, facts);
    assert_eq!(row.simplify(&narrow), row);
}
