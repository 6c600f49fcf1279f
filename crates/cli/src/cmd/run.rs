//! `fuseline run`

use serde_json::json as object;

use crate::args::Run;
use crate::error::{Outcome, Verdict};
use crate::progress::Progress;
use crate::session::Session;
use crate::{json, output};

/// Runs a model and shows its outputs.
///
/// # Errors
/// A model or inputs that do not load, compile or run.
pub(crate) fn run(args: &Run) -> Outcome<Verdict> {
    let session = Session::open(&args.model)?;
    let exe = session.compile()?;
    let outputs = {
        let _progress = Progress::start("running", 0);
        exe.run(&session.inputs)?
    };
    if let Some(folder) = &args.save_outputs {
        output::save(folder, &outputs)?;
    }
    let named: Vec<_> = session.model.output_names().into_iter().zip(&outputs).collect();
    let text = if args.json {
        let list: Vec<_> = named.iter().map(|(n, t)| json::tensor(n, t)).collect();
        json::text(&object!({ "version": json::VERSION, "model": session.model.graph().name, "outputs": list }))
    } else {
        named.iter().map(|(n, t)| output::line(n, t) + "\n").collect()
    };
    output::emit(&text)?;
    Ok(Verdict::Pass)
}
