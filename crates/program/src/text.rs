//! Text form of tile programs: one line per instruction.
//!
//! `r3 = exp.f32 r2` is an op; `a0`, `a1`, … are loop axes; `p0[1024·a0 + a1]` is an element of a parameter; `where`
//! introduces conditions. Registers print their type and directions where they are declared: `f32[rc!]` varies over
//! rows and columns and is resident.

use std::fmt::{self, Display, Formatter};

use crate::{Access, Affine, Body, Bound, Gemm, Instr, Nest, PackSource, Phase, Reg, RegDecl, Stage, TileAxis, TileProgram, Ty};

impl Display for Ty {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Ty::Bool => "bool",
            Ty::I32 => "i32",
            Ty::I64 => "i64",
            Ty::F32 => "f32",
            Ty::F64 => "f64",
        })
    }
}

impl Display for RegDecl {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let flag = |on: bool, text: &'static str| if on { text } else { "" };
        write!(f, "{}[{}{}{}]", self.ty, flag(self.rows, "r"), flag(self.cols, "c"), flag(self.is_resident(), "!"))
    }
}

impl Display for Affine {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for (axis, &coef) in self.coef.iter().enumerate().filter(|(_, c)| **c != 0) {
            f.write_str(match (first, coef < 0) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            })?;
            match coef.unsigned_abs() {
                1 => write!(f, "a{axis}")?,
                c => write!(f, "{c}·a{axis}")?,
            }
            first = false;
        }
        match (first, self.base) {
            (true, base) => write!(f, "{base}"),
            (false, 0) => Ok(()),
            (false, base) if base < 0 => write!(f, " - {}", base.unsigned_abs()),
            (false, base) => write!(f, " + {base}"),
        }
    }
}

impl Display for Bound {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} <= {} < {}", self.lo, self.expr, self.hi)
    }
}

fn list(regs: &[Reg]) -> String {
    regs.iter().map(|r| format!("r{r}")).collect::<Vec<_>>().join(", ")
}

fn conditions(mask: &[Bound]) -> String {
    let all: Vec<String> = mask.iter().map(Bound::to_string).collect();
    if all.is_empty() { String::new() } else { format!(" where {}", all.join(" and ")) }
}

fn masked(mask: Option<Reg>) -> String {
    mask.map_or_else(String::new, |r| format!(" where r{r}"))
}

impl Display for Instr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Instr::Const { dst, bits } => write!(f, "r{dst} = const 0x{bits:x}"),
            Instr::Index { dst, expr } => write!(f, "r{dst} = index {expr}"),
            Instr::Mask { dst, bounds } => write!(f, "r{dst} = mask{}", conditions(bounds)),
            Instr::Load { dst, param, index, mask, fill } => {
                write!(f, "r{dst} = load p{param}[{index}]{}", conditions(mask))?;
                if mask.is_empty() { Ok(()) } else { write!(f, " else 0x{fill:x}") }
            }
            Instr::LoadAt { dst, param, index, offset, mask } => {
                write!(f, "r{dst} = load p{param}[{index} + r{offset}]{}", masked(*mask))
            }
            Instr::Check { dst, value, limit, mask, message } => {
                write!(f, "r{dst} = check r{value} < {limit}{} message {message}", masked(*mask))
            }
            Instr::Store { param, index, mask, src } => write!(f, "store p{param}[{index}] = r{src}{}", conditions(mask)),
            Instr::StoreAt { param, index, offset, mask, src, combine } => {
                let combine = combine.map_or_else(String::new, |op| format!(" {}", op.name()));
                write!(f, "store p{param}[{index} + r{offset}]{combine} = r{src}{}", masked(*mask))
            }
            Instr::Op { op, dtype, round, dst, args } => {
                let exact = if *round || !dtype.is_float() || dtype.size() > 2 { "" } else { " unrounded" };
                write!(f, "r{dst} = {}.{dtype} {}{exact}", op.name(), list(args))
            }
            Instr::Init { combiner, acc } => write!(f, "{} = init {}", list(acc), combiner.info().name),
            Instr::Reduce { combiner, acc, src, merge } => {
                let merge = if *merge { "merge" } else { "reduce" };
                write!(f, "{} = {merge} {} {}", list(acc), combiner.info().name, list(src))
            }
            Instr::Scan { combiner, dst, carry, src, along_rows } => {
                let along = if *along_rows { "rows" } else { "columns" };
                write!(f, "{} = scan {} along {along} {} from {}", list(dst), combiner.info().name, list(src), list(carry))
            }
            Instr::Acc { dst, which } => write!(f, "r{dst} = acc {which}"),
        }
    }
}

fn registers(f: &mut Formatter<'_>, regs: &[RegDecl]) -> fmt::Result {
    let all: Vec<String> = regs.iter().enumerate().map(|(r, decl)| format!("r{r} {decl}")).collect();
    for line in all.chunks(8) {
        writeln!(f, "    regs {}", line.join(", "))?;
    }
    Ok(())
}

fn code(f: &mut Formatter<'_>, code: &[Instr], indent: &str) -> fmt::Result {
    code.iter().try_for_each(|i| writeln!(f, "{indent}{i}"))
}

fn axes(axes: &[usize]) -> String {
    if axes.is_empty() { "-".into() } else { axes.iter().map(|a| format!("a{a}")).collect::<Vec<_>>().join(" ") }
}

fn direction(name: &str, t: Option<TileAxis>) -> String {
    t.map_or_else(String::new, |t| format!("; {name} a{} by {}", t.axis, t.tile))
}

impl Display for Nest {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let extents: Vec<String> = self.extents.iter().enumerate().map(|(a, e)| format!("a{a}={e}")).collect();
        let serial = if self.serial { "serial " } else { "" };
        let (rows, cols) = (direction("rows", self.rows), direction("cols", self.cols));
        writeln!(f, "  {serial}nest {}; grid {}{rows}{cols}", extents.join(" "), axes(&self.grid))?;
        registers(f, &self.regs)?;
        let Some(sequence) = &self.sequence else { return stages(f, &self.stages) };
        stages(f, &sequence.before)?;
        let within = sequence.within.iter().map(|a| format!(", a{a}")).collect::<String>();
        writeln!(f, "    in order a{} by {} per a{}{within}", sequence.axis, sequence.length, sequence.block)?;
        stages(f, &self.stages)?;
        writeln!(f, "    after the block")?;
        stages(f, &sequence.after)
    }
}

fn side_by_side(f: &mut Formatter<'_>, nests: &[Nest]) -> fmt::Result {
    for (number, nest) in nests.iter().enumerate() {
        f.write_str(if number > 0 { "  beside\n" } else { "" })?;
        write!(f, "{nest}")?;
    }
    Ok(())
}

fn stages(f: &mut Formatter<'_>, stages: &[Stage]) -> fmt::Result {
    for stage in stages {
        write!(f, "    stage loop {}", axes(&stage.inner))?;
        for (axis, end) in &stage.ends {
            write!(f, ", a{axis} to {end}")?;
        }
        for (combiner, accs) in &stage.init {
            write!(f, "; {} = {}", list(accs), combiner.info().name)?;
        }
        writeln!(f)?;
        code(f, &stage.code, "      ")?;
        if !stage.finish.is_empty() {
            writeln!(f, "    finish")?;
            code(f, &stage.finish, "      ")?;
        }
    }
    Ok(())
}

fn body(f: &mut Formatter<'_>, body: &Body) -> fmt::Result {
    registers(f, &body.regs)?;
    code(f, &body.code, "      ")
}

impl Display for Gemm {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let flat = |on: bool, name: &str| if on { format!(" flat {name}") } else { String::new() };
        let (m, n) = (flat(self.flat_m, "m"), flat(self.flat_n, "n"));
        writeln!(f, "  gemm.{} batch {:?} m {:?} n {:?} k {:?}{m}{n}", self.ty, self.batch, self.m, self.n, self.k)?;
        for (number, source) in self.sources.iter().enumerate() {
            match source {
                PackSource::Direct { param, index, mask, frozen } => {
                    let frozen = if *frozen { " frozen" } else { "" };
                    writeln!(f, "    source {number}{frozen} = p{param}[{index}]{}", conditions(mask))?;
                }
                PackSource::Computed { body: computed, result, frozen } => {
                    let frozen = if *frozen { " frozen" } else { "" };
                    writeln!(f, "    source {number}{frozen} = r{result} of")?;
                    body(f, computed)?;
                }
            }
        }
        for (number, (a, b)) in self.products.iter().enumerate() {
            writeln!(f, "    acc {number} = source {a} · source {b}")?;
        }
        writeln!(f, "    epilogue")?;
        body(f, &self.epilogue)
    }
}

impl Display for TileProgram {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "program {}", self.name)?;
        for (number, p) in self.params.iter().enumerate() {
            let access = match p.access {
                Access::Read => "read",
                Access::Write => "write",
                Access::ReadWrite => "read-write",
            };
            writeln!(f, "  p{number} {}[{}] {access} {}", p.dtype, p.elements, p.name)?;
        }
        for phase in &self.phases {
            match phase {
                Phase::Nests(nests) => side_by_side(f, nests)?,
                Phase::Gemm(gemm) => write!(f, "{gemm}")?,
            }
        }
        for (number, check) in self.checks.iter().enumerate() {
            writeln!(f, "  message {number}: {check}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn affine_expressions_read_well() {
        let text = |base: i64, coef: &[i64]| Affine { base, coef: coef.iter().copied().collect() }.to_string();
        assert_eq!(text(0, &[]), "0");
        assert_eq!(text(-3, &[0]), "-3");
        assert_eq!(text(2, &[1, 0, -7]), "a0 - 7·a2 + 2");
        assert_eq!(text(-1, &[-1, 4]), "-a0 + 4·a1 - 1");
    }

    #[test]
    fn instructions_read_well() {
        let index = Affine { base: 0, coef: [8, 1].into_iter().collect() };
        let bound = Bound { expr: index.clone(), lo: 0, hi: 5 };
        let load = Instr::Load { dst: 1, param: 0, index: index.clone(), mask: vec![bound], fill: 0 };
        assert_eq!(load.to_string(), "r1 = load p0[8·a0 + a1] where 0 <= 8·a0 + a1 < 5 else 0x0");
        let store = Instr::StoreAt { param: 2, index, offset: 3, mask: Some(4), src: 1, combine: Some(scalar::ScalarOp::Add) };
        assert_eq!(store.to_string(), "store p2[8·a0 + a1 + r3] add = r1 where r4");
    }
}
