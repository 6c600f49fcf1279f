//! Remarks: recorded decisions with their reasons.

/// Why an edge was not fused, or another decision worth telling. The `F` codes are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// Library call whose epilogue cannot take the consumer.
    F01,
    /// Intermediate is a graph output or has readers outside.
    F02,
    /// Iteration spaces differ.
    F03,
    /// Reduction axes differ; a second pass is needed.
    F04,
    /// Access pattern: the read would be uncoalesced.
    F05,
    /// The merge would create a cycle, or the search budget ran out.
    F06,
    /// Register, cache or argument budget exceeded.
    F07,
    /// Recomputing costs more than reloading.
    F08,
    /// Device or stream differs.
    F09,
    /// Numerics: reduction order or precision contract.
    F10,
    /// Dynamic or data-dependent extent, or control flow.
    F11,
    /// Side effect, alias or in-place write.
    F12,
    /// Estimated or measured slower when fused.
    F13,
    /// Op has no fused form, or a user barrier.
    F14,
    /// Compile budget: too many distinct maps or members.
    F15,
    /// A fallback was taken after lowering refused a group.
    Fallback,
    /// Donation of a buffer refused.
    Donation,
    /// A compile was interrupted by reading a value.
    GraphBreak,
    /// A run is not recorded to be repeated as one launch, or a replay copies something.
    Replay,
}

impl Code {
    /// One line that says what the code means.
    pub fn meaning(self) -> &'static str {
        match self {
            Code::F01 => "library call, epilogue unsupported",
            Code::F02 => "intermediate is an output or has readers outside",
            Code::F03 => "iteration spaces differ",
            Code::F04 => "reduction axes differ, or a second pass is needed",
            Code::F05 => "access pattern would be uncoalesced",
            Code::F06 => "would create a cycle",
            Code::F07 => "register, cache or argument budget exceeded",
            Code::F08 => "recomputing costs more than reloading",
            Code::F09 => "device or stream differs",
            Code::F10 => "numerics: reduction order or precision contract",
            Code::F11 => "dynamic extent or control flow",
            Code::F12 => "side effect, alias or in-place write",
            Code::F13 => "slower when fused",
            Code::F14 => "no fused form, or a user barrier",
            Code::F15 => "compile budget: too many distinct maps or members",
            Code::Fallback => "fallback after lowering refused a group",
            Code::Donation => "donation refused",
            Code::GraphBreak => "graph break",
            Code::Replay => "not repeated as one launch, or with copies",
        }
    }
}

/// One recorded decision: what was decided about which place, why, and what would change it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// Stable reason code.
    pub code: Code,
    /// Pass that decided.
    pub pass: &'static str,
    /// Both ends of an edge, or the one place, in the user's words.
    pub places: Vec<String>,
    /// The reason, with its numbers.
    pub message: String,
    /// Bytes per run that the decision still costs, in the sizes that the plan was made for.
    pub bytes: u64,
    /// What would lift it.
    pub hint: String,
}
