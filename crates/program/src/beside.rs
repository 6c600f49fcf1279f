//! Independent programs as one launch.

use base::{Error, Result};

use crate::{Instr, Nest, Phase, Stage, TileProgram};

/// Programs of nests that do not depend on each other, with the number of arguments of each, as one program: phases of the
/// same number run side by side. The arguments of all programs come first, their workspaces after them.
///
/// # Errors
/// A program with matrix products.
pub fn beside(name: &str, programs: Vec<(TileProgram, usize)>) -> Result<TileProgram> {
    let mut out = TileProgram { name: name.to_owned(), params: Vec::new(), phases: Vec::new(), checks: Vec::new() };
    let arguments: usize = programs.iter().map(|(_, args)| args).sum();
    let mut workspaces = Vec::new();
    for (program, args) in programs {
        let (first_arg, first_workspace) = (out.params.len(), arguments + workspaces.len());
        let first_check = out.checks.len() as u16;
        let place = |p: u16| match usize::from(p) {
            p if p < args => (first_arg + p) as u16,
            p => (first_workspace + p - args) as u16,
        };
        let mut params = program.params.into_iter();
        out.params.extend(params.by_ref().take(args));
        workspaces.extend(params);
        out.checks.extend(program.checks);
        for (number, phase) in program.phases.into_iter().enumerate() {
            let Phase::Nests(mut nests) = phase else { return Err(Error::internal("a product beside other kernels")) };
            nests.iter_mut().flat_map(instructions).for_each(|i| renumber(i, &place, first_check));
            match out.phases.get_mut(number) {
                Some(Phase::Nests(all)) => all.extend(nests),
                _ => out.phases.push(Phase::Nests(nests)),
            }
        }
    }
    out.params.extend(workspaces);
    Ok(out)
}

fn instructions(nest: &mut Nest) -> impl Iterator<Item = &mut Instr> {
    let around = nest.sequence.as_mut_slice().iter_mut().flat_map(|s| s.before.iter_mut().chain(&mut s.after));
    nest.stages.iter_mut().chain(around).flat_map(|Stage { code, finish, .. }| code.iter_mut().chain(finish))
}

fn renumber(instr: &mut Instr, place: &dyn Fn(u16) -> u16, first_check: u16) {
    match instr {
        Instr::Load { param, .. } | Instr::LoadAt { param, .. } | Instr::Store { param, .. } | Instr::StoreAt { param, .. } => {
            *param = place(*param);
        }
        Instr::Check { message, .. } => *message += first_check,
        _ => {}
    }
}
