//! What a GPU executes.

use std::fmt;

use scalar::{Activation, DType};

use crate::Param;

/// A program for an NVIDIA GPU: launches of generated CUDA C++ and matrix products of a library, in stream order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CudaProgram {
    /// Kernel name.
    pub name: String,
    /// Buffer arguments, workspaces included.
    pub params: Vec<Param>,
    /// CUDA C++ with every entry of the launches, complete: nothing is included. Empty without launches. Equal sources share
    /// one binary; comments (`//` to the end of a line) do not count.
    pub source: String,
    /// What runs, in order.
    pub steps: Vec<CudaStep>,
    /// Messages of run-time checks. A kernel reports the first failed check by its index, see [`Launch::numbers`].
    pub checks: Vec<String>,
}

/// One operation of a stream.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CudaStep {
    /// A generated kernel.
    Launch(Launch),
    /// A matrix product of the library.
    Product(Product),
    /// A convolution of the library.
    Convolution(Convolution),
}

/// One launch. The kernel takes one argument by value: an array of 64-bit words with the addresses of `args`, then `numbers`,
/// then the address of the fault word, a 64-bit word in which a failed check puts its index plus one if it is still zero.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Launch {
    /// `extern "C"` function of the source.
    pub entry: String,
    /// Blocks along x, not zero.
    pub grid: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Dynamic shared memory, bytes.
    pub shared: u32,
    /// Blocks of a cluster; 1 without clusters.
    pub cluster: u32,
    /// Clusters take turns: each may do what others of the grid were for, so that no more are launched than run at once.
    pub in_turns: bool,
    /// Parameters whose addresses are passed.
    pub args: Vec<u16>,
    /// Sizes and strides that the source does not contain as literals.
    pub numbers: Vec<i64>,
}

/// `d[b, m, n] = Σₖ a[b, m, k] · b[b, k, n]`, accumulated in `acc`, then a bias, each rounded to `d`'s type at the end.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Product {
    /// Batch extents, outermost first.
    pub batch: Vec<i64>,
    /// Rows.
    pub m: i64,
    /// Columns.
    pub n: i64,
    /// Contracted extent.
    pub k: i64,
    /// Left factor: rows are m, columns k.
    pub a: Operand,
    /// Right factor: rows are k, columns n.
    pub b: Operand,
    /// Result: rows are m, columns n.
    pub d: Operand,
    /// Accumulator.
    pub acc: DType,
    /// What follows the product before it is stored.
    pub epilogue: Epilogue,
}

/// What the library does to a product or a convolution before it stores it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Epilogue {
    /// A vector that is added, of the result's type. Channels are columns.
    pub bias: Option<Vector>,
    /// A function applied after the bias.
    pub activation: Option<Activation>,
    /// A second matrix of a product, of the result's type: what `GeluTanh` is applied to is written there as well, and
    /// `GeluTanhBackward` takes the derivative at what it reads there.
    pub beside: Option<Beside>,
    /// A vector that is written: sums of a product's result over the other axis and the batch, of its type, after
    /// `GeluTanhBackward`.
    pub sums: Option<Vector>,
}

/// A matrix that lies within a parameter as the result lies in its own, but for where it begins.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Beside {
    /// Parameter.
    pub param: u16,
    /// Element of index 0.
    pub offset: i64,
}

/// A vector over columns or rows of a result, with adjacent elements, within a parameter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Vector {
    /// Parameter.
    pub param: u16,
    /// Element of the vector's beginning.
    pub offset: i64,
    /// It varies over rows instead of columns.
    pub over_rows: bool,
}

/// A matrix, or a batch of them, within a parameter; positions in elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Operand {
    /// Parameter.
    pub param: u16,
    /// Stored type.
    pub dtype: DType,
    /// Element of index 0.
    pub offset: i64,
    /// Distance between neighbouring rows.
    pub rows: i64,
    /// Distance between neighbouring columns.
    pub columns: i64,
    /// Distance between neighbours of each batch axis; 0 where it does not vary.
    pub batch: Vec<i64>,
}

/// `y[n, k, p] = Σ x[n, c, p · stride + t · dilation − before] · w[k, c, t]` over c and t, zero outside of x: one of the three
/// operands, or the sum that is its gradient, from the other two.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Convolution {
    /// What is computed.
    pub kind: ConvolutionKind,
    /// Groups of channels that do not mix.
    pub groups: i64,
    /// Spatial axes, outermost first: two or three.
    pub windows: Vec<Window>,
    /// Data: n, c, then spatial axes.
    pub x: Tensor,
    /// Filter: k, c of one group, then taps.
    pub w: Tensor,
    /// Result: n, k, then spatial axes.
    pub y: Tensor,
    /// Accumulator.
    pub acc: DType,
    /// What follows the convolution before it is stored.
    pub epilogue: Epilogue,
}

/// Which operand of a convolution is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ConvolutionKind {
    /// y from x and w.
    Forward,
    /// The gradient of x from w and the gradient of y, each where the value is.
    Data,
    /// The gradient of w from x and the gradient of y, each where the value is.
    Weights,
}

/// How a filter moves along one spatial axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Window {
    /// Distance of neighbouring windows.
    pub stride: i64,
    /// Distance of neighbouring taps.
    pub dilation: i64,
    /// Zeros before.
    pub before: i64,
    /// Zeros after.
    pub after: i64,
}

/// An array of a few axes within a parameter; positions in elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tensor {
    /// Parameter.
    pub param: u16,
    /// Stored type.
    pub dtype: DType,
    /// Element of index 0.
    pub offset: i64,
    /// Extents.
    pub extents: Vec<i64>,
    /// Distances between neighbours.
    pub strides: Vec<i64>,
}

impl Convolution {
    /// The operands that are read and the one that is written.
    pub fn operands(&self) -> ([&Tensor; 2], &Tensor) {
        match self.kind {
            ConvolutionKind::Forward => ([&self.x, &self.w], &self.y),
            ConvolutionKind::Data => ([&self.w, &self.y], &self.x),
            ConvolutionKind::Weights => ([&self.x, &self.y], &self.w),
        }
    }
}

/// Ends the part of a source that is in the hardware's instructions; the rest is C++ for threads.
pub const HARDWARE_END: &str = "// ---- portable\n";
/// Ends what every source begins with; the rest is the kernel's own.
pub const PRELUDE_END: &str = "// ---- kernel\n";

impl CudaProgram {
    /// The source without what every source begins with.
    pub fn own_source(&self) -> &str {
        self.source.split_once(PRELUDE_END).map_or(&self.source, |(_, own)| own)
    }
}

impl fmt::Display for CudaProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.name)?;
        for (n, p) in self.params.iter().enumerate() {
            writeln!(f, "  p{n}: {} {}[{}] {:?}", p.name, p.dtype, p.elements, p.access)?;
        }
        f.write_str(self.own_source())?;
        for step in &self.steps {
            match step {
                CudaStep::Launch(l) => {
                    let clusters = if l.cluster > 1 { format!(" in clusters of {}", l.cluster) } else { String::new() };
                    let shared = if l.shared > 0 { format!(" with {} bytes shared", l.shared) } else { String::new() };
                    let (grid, threads) = (l.grid, l.threads);
                    writeln!(
                        f,
                        "launch {} <{grid} x {threads}>{clusters}{shared} args {:?} numbers {:?}",
                        l.entry, l.args, l.numbers
                    )?;
                }
                CudaStep::Product(p) => writeln!(f, "{p}")?,
                CudaStep::Convolution(c) => writeln!(f, "{c}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let batch: String = self.batch.iter().map(|n| format!("{n} x ")).collect();
        let Product { m, n, k, a, b, d, acc, epilogue, .. } = self;
        write!(f, "product {batch}{m} x {n} over {k} in {acc}: {d} = {a} * {b}{epilogue}")
    }
}

impl fmt::Display for Epilogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(bias) = &self.bias {
            let along = if bias.over_rows { "rows" } else { "columns" };
            write!(f, " + p{}[{}..] over {along}", bias.param, bias.offset)?;
        }
        if let Some(activation) = self.activation {
            write!(f, ", {activation:?}")?;
        }
        if let Some(beside) = &self.beside {
            write!(f, " beside p{}[{}..]", beside.param, beside.offset)?;
        }
        if let Some(sums) = &self.sums {
            let along = if sums.over_rows { "rows" } else { "columns" };
            write!(f, ", p{}[{}..] its sums over {along}", sums.param, sums.offset)?;
        }
        Ok(())
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let batch: String = self.batch.iter().map(|step| format!("{step}, ")).collect();
        let from = if self.offset == 0 { String::new() } else { format!(" from {}", self.offset) };
        write!(f, "{} p{}[{batch}{}, {}]{from}", self.dtype, self.param, self.rows, self.columns)
    }
}

impl fmt::Display for Convolution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Convolution { groups, windows, x, w, y, acc, epilogue, .. } = self;
        let sum = match self.kind {
            ConvolutionKind::Forward => format!("y {y} = x {x} * w {w}"),
            ConvolutionKind::Data => format!("x {x} = w {w} * y {y}"),
            ConvolutionKind::Weights => format!("w {w} = x {x} * y {y}"),
        };
        write!(f, "convolution in {acc}, {groups} groups, windows")?;
        windows.iter().try_for_each(|w| write!(f, " {}/{} pad {}+{}", w.stride, w.dilation, w.before, w.after))?;
        write!(f, ": {sum}{epilogue}")
    }
}

impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = if self.offset == 0 { String::new() } else { format!(" from {}", self.offset) };
        write!(f, "{} p{}{:?} by {:?}{from}", self.dtype, self.param, self.extents, self.strides)
    }
}
