use crate::text::parse;

/// Type of the last node of a function over typical inputs, or the message of its first error.
fn last(lines: &str) -> Result<String, String> {
    let text = format!(
        "func f(x: f32[n, 8], y: f32[n, 8], m: f32[8, 5], i: i64[n, 3], p: bool[], q: u8[4, 6], w: i8[6, 2], s: i64[], t: f32[3]) {{
           where n >= 1
           {lines}
           return
         }}"
    );
    let graph = parse("t", &text).map_err(|e| e.to_string().splitn(4, ':').last().unwrap().trim().to_owned())?;
    Ok(graph.nodes.last().unwrap().ty.to_string())
}

fn accepts(cases: &[(&str, &str)]) {
    for (lines, ty) in cases {
        assert_eq!(last(lines).as_deref(), Ok(*ty), "{lines}");
    }
}

fn refuses(cases: &[(&str, &str)]) {
    for (lines, why) in cases {
        let error = last(lines).expect_err(lines);
        assert!(error.contains(why), "{lines}\n  gives  {error}\n  wanted {why}");
    }
}

#[test]
fn pointwise_and_sources() {
    accepts(&[
        ("%9 = exp %x", "f32[n, 8]"),
        ("%9 = lt %x, %y", "bool[n, 8]"),
        ("%9 = cast.f16 %x", "f16[n, 8]"),
        ("%9 = const bf16 1.5", "bf16[]"),
        ("%9 = sym 2*n + 1", "i64[]"),
        ("%9 = iota n", "i64[n]"),
        ("%9 = materialize %x", "f32[n, 8]"),
    ]);
    refuses(&[
        ("%9 = exp %i", "exp(i64[n, 3]): exp needs a float, got i64"),
        ("%9 = add %x, %m", "shapes [n, 8] and [8, 5] differ: 8 is not 5"),
        ("%9 = add %x, %t", "shapes [n, 8] and [3] differ in rank"),
        ("%9 = add %x", "add takes 2 operands, got 1"),
        ("%9 = iota -1", "length must not be negative"),
        ("%9 = const f32 1 \n %10 = result %9 [0]", "the operand has a single result"),
        ("%9 = materialize %x, %y", "takes 1 operands, got 2"),
    ]);
}

#[test]
fn reductions_and_scans() {
    accepts(&[
        ("%9 = reduce.sum %x [0, 1]", "f32[]"),
        ("%9 = reduce.max %x []", "f32[n, 8]"),
        ("%9 = reduce.argmax %x [1]", "(f32[n], i64[n])"),
        ("%9 = reduce.welford %x [1] \n %10 = result %9 [2]", "f32[n]"),
        ("%9 = scan.sum %x [1]", "f32[n, 8]"),
        ("%9 = scan.affine %x, %y [0]", "(f32[n, 8], f32[n, 8])"),
    ]);
    refuses(&[
        ("%9 = reduce.sum %x [2]", "axis 2 is out of range for rank 2"),
        ("%9 = reduce.sum %x [1, 0]", "must be ascending"),
        ("%9 = reduce.sum %x [1, 1]", "axis 1 is listed twice"),
        ("%9 = reduce.any %x [1]", "any needs bool, got f32"),
        ("%9 = reduce.affine %x, %y [1]", "it scans, and does not reduce"),
        ("%9 = scan.sum %x, %y [0]", "sum takes 1 operands, got 2"),
        ("%9 = scan.sum %x [3]", "axis 3 is out of range"),
        ("%9 = reduce.argmax %x [1] \n %10 = result %9 [2]", "the operand has 2 results, there is no 2"),
        ("%9 = reduce.argmax %x [1] \n %10 = exp %9", "read one of them with result"),
    ]);
}

#[test]
fn views() {
    accepts(&[
        ("%9 = view.reshape %x [2, n, 2, 2]", "f32[2, n, 2, 2]"),
        ("%9 = view.permute %x [1, 0]", "f32[8, n]"),
        ("%9 = view.reshape %x [n, 1, 8] \n %10 = view.expand %9 [n, 7, 8]", "f32[n, 7, 8]"),
        ("%9 = view.slice %x start [0, 1] len [n, 3] step [1, 3]", "f32[n, 3]"),
        ("%9 = view.slice %x start [0, 8] len [n, 0]", "f32[n, 0]"),
        ("%9 = view.flip %x [1]", "f32[n, 8]"),
        ("%9 = view.pad %x lo [0, 1] hi [2, 3] value 0.0", "f32[n + 2, 12]"),
        ("%9 = view.pad %t lo [1] hi [1] interior [2] value nan", "f32[9]"),
        ("%9 = view.slice %t start [0] len [0] \n %10 = view.pad %9 lo [1] hi [2] interior [5] value 0.0", "f32[3]"),
        ("%9 = view.pad %x lo [0, 0] hi [0, 0] interior [1, 0] value 0.0", "f32[2*n - 1, 8]"),
        ("%9 = view.window %x axis 1 stride 2 dilation 1 size 3", "f32[n, 3, 3]"),
        ("%9 = view.window %x axis 1 stride 1 dilation 3 size 3", "f32[n, 2, 3]"),
        ("%9 = view.window %x axis 0 stride 1 dilation 1 size n", "f32[1, 8, n]"),
    ]);
    refuses(&[
        ("%9 = view.reshape %x [n, 9]", "element counts of [n, 8] and [n, 9] differ"),
        ("%9 = view.permute %x [0, 0]", "axis 0 is listed twice"),
        ("%9 = view.permute %x [0]", "needs an operand axis for each of 2 axes, got 1"),
        ("%9 = view.expand %x [n, 16]", "only extent 1 expands"),
        ("%9 = view.slice %x start [0, 6] len [n, 3]", "8 is less than 9"),
        ("%9 = view.slice %x start [0, -1] len [n, 3]", "start must not be negative"),
        ("%9 = view.slice %x start [0, 0] len [n, 3] step [1, 0]", "step must be at least 1, got 0"),
        ("%9 = view.flip %x [2]", "out of range"),
        ("%9 = view.pad %x lo [0, -1] hi [0, 0] value 0.0", "lo must not be negative"),
        ("%9 = view.pad %x lo [0, 0] hi [0, 0] interior [0, -1] value 0.0", "interior must not be negative"),
        ("%9 = view.window %x axis 1 stride 1 dilation 1 size 9", "a window that spans 9 must fit axis 1 of extent 8"),
        ("%9 = view.window %x axis 1 stride 0 dilation 1 size 3", "stride must be at least 1"),
        ("%9 = view.window %x axis 1 stride 1 dilation 1 size 0", "window size must be at least 1"),
        ("%9 = view.reshape %t [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,3]", "the result has rank 17"),
        ("%9 = iota 4611686018427387904 \n %10 = concat %9, %9 [0]", "too large for 64 bits"),
    ]);
}

#[test]
fn joins_and_contractions() {
    accepts(&[
        ("%9 = concat %x, %y [0]", "f32[2*n, 8]"),
        ("%9 = concat %x [1]", "f32[n, 8]"),
        (r#"%9 = contract %x, %m "nk,kj->nj" acc f32"#, "f32[n, 5]"),
        (r#"%9 = contract %x, %m "nk,kj->jn" acc f64"#, "f32[5, n]"),
        (r#"%9 = contract %q, %w "ab,bc->ac" acc i32"#, "i32[4, 2]"),
        (r#"%9 = contract %x, %y "ab,ab->" acc f32"#, "f32[]"),
        (r#"%9 = contract %x, %t "ab,c->ac" acc f32"#, "f32[n, 3]"),
    ]);
    refuses(&[
        ("%9 = concat [0]", "needs at least one operand"),
        ("%9 = concat %x, %i [0]", "cast one of them"),
        ("%9 = concat %x, %m [0]", "axis 1 of shapes [n, 8] and [8, 5] differ"),
        (r#"%9 = contract %x, %m "nk,jk->nj" acc f32"#, "differ: 8 is not 5"),
        (r#"%9 = contract %x, %m "nk,kj->nz" acc f32"#, "an output label is in neither operand"),
        (r#"%9 = contract %x, %m "nk,kj->nn" acc f32"#, "a label occurs twice"),
        (r#"%9 = contract %x, %m "nk,kj->nj" acc f16"#, "operands of f32 cannot accumulate in f16"),
        (r#"%9 = contract %q, %w "ab,bc->ac" acc i64"#, "dtypes u8 and i8 differ"),
        (r#"%9 = contract %x, %m "n,kj->nj" acc f32"#, "needs a label of the first operand for each of 2 axes, got 1"),
    ]);
}

#[test]
fn indexed_reads_and_writes() {
    let start = "%9 = view.slice %x start [0, 0] len [n, 3] \n";
    let with = |line: &str| format!("{start}{line}");
    accepts(&[
        ("%9 = gather %x, %i [1]", "f32[n, 3]"),
        ("%9 = gather %x, %i, %i [0, 1]", "f32[n, 3]"),
        (&with("%10 = write.add.indices %x, %9, %i [1]"), "f32[n, 8]"),
        (&with("%10 = write.set.indices %x, %9, %i [1] unique"), "f32[n, 8]"),
        (&with("%10 = write.set.slice %x, %9 start [0, 1] step [1, 3]"), "f32[n, 8]"),
        (&with("%10 = write.set.dynamic %x, %9, %s [1]"), "f32[n, 8]"),
    ]);
    refuses(&[
        ("%9 = gather %x []", "needs at least one indexed axis"),
        ("%9 = gather %x, %i []", "takes 1 operands, got 2"),
        ("%9 = gather %x, %x [1]", "indices must be i64, got f32"),
        ("%9 = gather %x, %i [0]", "axis 1 of operand [n, 8] and indices [n, 3] differ"),
        ("%9 = gather %t, %i [0]", "differ in rank"),
        (&with("%10 = write.set.slice %x, %9 start [0, 6] step [1, 1]"), "8 is less than 9"),
        (&with("%10 = write.set.slice %9, %x start [0, 0] step [1, 1]"), "3 is less than 8"),
        (&with("%10 = write.set.dynamic %x, %9, %i [1]"), "a start must be i64[], got i64[n, 3]"),
        (&with("%10 = write.add.indices %x, %x, %i [1]"), "differ: 8 is not 3"),
        ("%9 = write.add.slice %x, %i start [0, 0] step [1, 1]", "cast one of them"),
    ]);
}

#[test]
fn calls() {
    accepts(&[
        ("%9 = call sort %x {axis = 1, descending = 1}", "(f32[n, 8], i64[n, 8])"),
        ("%9 = call topk %x {axis = 1, k = 3} \n %10 = result %9 [1]", "i64[n, 3]"),
    ]);
    refuses(&[
        ("%9 = call srot %x {axis = 1}", "unknown call 'srot'; did you mean 'sort'?"),
        ("%9 = call topk %x {axis = 1, k = 9}", "k = 9 is out of range"),
        ("%9 = call sort %x {}", "sort needs the attribute axis"),
    ]);
}

#[test]
fn window_extents_agree_with_counting() {
    for n in 1i64..9 {
        for (size, stride, dilation) in [(1, 1, 1), (2, 1, 1), (2, 3, 2), (3, 2, 1), (3, 2, 2)] {
            let span = dilation * (size - 1) + 1;
            let count = (0..).map(|o| o * stride).take_while(|start| start + span <= n).count();
            let text = format!(
                "func f(x: f32[{n}]) {{\n%1 = view.window %x axis 0 stride {stride} dilation {dilation} size {size}\nreturn\n}}"
            );
            match parse("t", &text) {
                Ok(g) => assert_eq!(g.nodes[1].ty.to_string(), format!("f32[{count}, {size}]"), "{text}"),
                Err(e) => assert!(n < span, "{e}"),
            }
        }
    }
}
