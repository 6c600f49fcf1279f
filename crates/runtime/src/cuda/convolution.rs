//! From a convolution, and what follows it, to a problem for cuDNN.

use base::{Error, Result};
use program::{Convolution, ConvolutionKind, Epilogue, Param, Tensor, Vector, Window};
use scalar::{Activation, DType};

/// Alignment of all addresses, and of a parameter's elements where it begins at one.
pub(super) const ALIGNED: i64 = 16;

/// Places of the operands in a problem.
pub(super) const W: usize = 0;
pub(super) const X: usize = 1;
pub(super) const Y: usize = 2;

/// An operand as the library sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Array {
    pub(super) extents: Vec<i64>,
    pub(super) strides: Vec<i64>,
    /// Bytes that divide its address.
    pub(super) alignment: i64,
}

impl Array {
    /// Elements from the first to the last.
    pub(super) fn span(&self) -> i64 {
        self.extents.iter().zip(&self.strides).map(|(n, s)| (n - 1) * s).sum::<i64>() + 1
    }

    /// Where an element is.
    pub(super) fn position(&self, element: &[i64]) -> i64 {
        element.iter().zip(&self.strides).map(|(i, s)| i * s).sum()
    }
}

/// What is computed, wherever it lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) kind: ConvolutionKind,
    pub(super) dtype: DType,
    pub(super) windows: Vec<Window>,
    /// w, x and y.
    pub(super) arrays: [Array; 3],
    /// A vector over channels that is added, as broad as y.
    pub(super) bias: Option<Array>,
    /// A function applied after the bias.
    pub(super) activation: Option<Activation>,
}

impl Problem {
    /// The problem of a convolution whose operands lie in parameters.
    ///
    /// # Errors
    /// `Unsupported` for types that the library is not used for; internal ones for operands outside of their parameters, or extents
    /// that do not belong together.
    pub(super) fn new(c: &Convolution, params: &[Param]) -> Result<Problem> {
        let refuse = |why: &str| Error::unsupported(format!("cuDNN takes no {c}: {why}"));
        let wrong = |why: &str| Error::internal(format!("{c}: {why}"));
        let dtype = c.x.dtype;
        if code(dtype).is_none() || [&c.w, &c.y].iter().any(|t| t.dtype != dtype) || c.acc != DType::F32 {
            return Err(refuse("element types"));
        }
        if !(2..=3).contains(&c.windows.len()) {
            return Err(refuse("number of spatial axes"));
        }
        for tensor in [&c.w, &c.x, &c.y] {
            check_inside(tensor, c.windows.len() + 2, params).map_err(wrong)?;
        }
        check_extents(c).map_err(wrong)?;
        let Epilogue { bias, activation, beside, sums } = &c.epilogue;
        if (bias.is_some() || activation.is_some()) && c.kind != ConvolutionKind::Forward {
            return Err(refuse("what follows a gradient"));
        }
        if !matches!(activation, None | Some(Activation::Relu)) || beside.is_some() || sums.is_some() {
            return Err(refuse("activation"));
        }
        let bias = bias.as_ref().map(|b| bias_array(b, &c.y, params)).transpose().map_err(wrong)?;
        let arrays = [&c.w, &c.x, &c.y].map(|t| Array {
            extents: t.extents.clone(),
            strides: t.strides.clone(),
            alignment: alignment(t.offset * dtype.size() as i64),
        });
        Ok(Problem { kind: c.kind, dtype, windows: c.windows.clone(), arrays, bias, activation: *activation })
    }

    /// Multiply-adds.
    pub(super) fn work(&self) -> f64 {
        let [w, _, y] = &self.arrays;
        let product = |n: &[i64]| n.iter().map(|&n| n as f64).product::<f64>();
        product(&y.extents) * product(&w.extents[1..])
    }

    /// The convolution without what follows it, if something does.
    pub(super) fn alone(&self) -> Option<Problem> {
        let is_followed = self.bias.is_some() || self.activation.is_some();
        is_followed.then(|| Problem { bias: None, activation: None, ..self.clone() })
    }

    /// w, x, y and the bias, if there is one.
    pub(super) fn operands(&self) -> impl Iterator<Item = &Array> {
        self.arrays.iter().chain(&self.bias)
    }
}

/// The largest power of two up to [`ALIGNED`] that divides a byte offset.
fn alignment(bytes: i64) -> i64 {
    if bytes == 0 { ALIGNED } else { ALIGNED.min(1 << bytes.trailing_zeros()) }
}

fn check_inside(tensor: &Tensor, rank: usize, params: &[Param]) -> Result<(), &'static str> {
    let param = params.get(usize::from(tensor.param)).ok_or("an operand without parameter")?;
    let Tensor { offset, extents, strides, .. } = tensor;
    if extents.len() != rank || strides.len() != rank || extents.iter().any(|&n| n < 1) || strides.iter().any(|&s| s < 1) {
        return Err("extents and strides are not positive, or not as many as axes");
    }
    let last = extents.iter().zip(strides).map(|(&n, &s)| i128::from(n - 1) * i128::from(s)).sum::<i128>() + i128::from(*offset);
    let inside = *offset >= 0 && last < i128::from(param.elements) && param.dtype == tensor.dtype;
    if inside { Ok(()) } else { Err("an operand lies outside of its parameter") }
}

/// A bias with the axes of y, along which it has one element but for the channels.
fn bias_array(bias: &Vector, y: &Tensor, params: &[Param]) -> Result<Array, &'static str> {
    let channels = y.extents[1];
    let with = |of_channels: i64, other: i64| (0..y.extents.len()).map(|a| if a == 1 { of_channels } else { other }).collect();
    let (extents, strides) = (with(channels, 1), with(1, channels));
    let tensor = Tensor { param: bias.param, dtype: y.dtype, offset: bias.offset, extents, strides };
    check_inside(&tensor, y.extents.len(), params)?;
    Ok(Array { alignment: alignment(tensor.offset * y.dtype.size() as i64), extents: tensor.extents, strides: tensor.strides })
}

fn check_extents(c: &Convolution) -> Result<(), &'static str> {
    let (x, w, y) = (&c.x.extents, &c.w.extents, &c.y.extents);
    let channels = x[0] == y[0] && y[1] == w[0] && x[1] == w[1] * c.groups && w[0] % c.groups == 0;
    let fits = |(i, window): (usize, &Window)| {
        let room = x[2 + i] + window.before + window.after - (w[2 + i] - 1) * window.dilation - 1;
        room >= 0 && window.stride >= 1 && window.before >= 0 && window.after >= 0 && room / window.stride + 1 == y[2 + i]
    };
    if channels && c.windows.iter().enumerate().all(fits) { Ok(()) } else { Err("extents that do not belong together") }
}

/// `cudnnDataType_t`.
pub(super) fn code(dtype: DType) -> Option<i32> {
    Some(match dtype {
        DType::F32 => 0,
        DType::F16 => 2,
        DType::BF16 => 9,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use program::Access;

    use super::*;

    fn tensor(param: u16, extents: [i64; 4]) -> Tensor {
        let [_, c, h, w] = extents;
        let strides = vec![c * h * w, h * w, w, 1];
        Tensor { param, dtype: DType::F16, offset: 0, extents: extents.to_vec(), strides }
    }

    fn plain() -> (Convolution, Vec<Param>) {
        let window = Window { stride: 2, dilation: 1, before: 1, after: 1 };
        let c = Convolution {
            kind: ConvolutionKind::Forward,
            groups: 2,
            windows: vec![window; 2],
            x: tensor(0, [3, 8, 14, 14]),
            w: tensor(1, [6, 4, 3, 3]),
            y: tensor(2, [3, 6, 7, 7]),
            acc: DType::F32,
            epilogue: Epilogue::default(),
        };
        let sizes = [3 * 8 * 196, 6 * 4 * 9, 3 * 6 * 49];
        let param = |elements| Param { name: "p".into(), dtype: DType::F16, access: Access::Read, elements };
        (c, sizes.map(param).to_vec())
    }

    #[test]
    fn a_convolution_is_a_problem() {
        let (mut c, mut params) = plain();
        let problem = Problem::new(&c, &params).unwrap();
        assert_eq!(problem.work(), f64::from(3 * 6 * 49 * 4 * 9));
        assert_eq!(problem.arrays[1].span(), 3 * 8 * 196);
        assert!(problem.arrays.iter().all(|a| a.alignment == 16));
        c.x.offset = 6;
        params[0].elements += 6;
        assert_eq!(Problem::new(&c, &params).unwrap().arrays[1].alignment, 4);
    }

    #[test]
    fn a_bias_is_as_broad_as_the_result() {
        let (mut c, mut params) = plain();
        params.push(Param { name: "b".into(), dtype: DType::F16, access: Access::Read, elements: 7 });
        let bias = |offset| Some(Vector { param: 3, offset, over_rows: false });
        c.epilogue = Epilogue { bias: bias(1), activation: Some(Activation::Relu), ..Epilogue::default() };
        let problem = Problem::new(&c, &params).unwrap();
        assert_eq!(problem.bias, Some(Array { extents: vec![1, 6, 1, 1], strides: vec![6, 1, 6, 6], alignment: 2 }));
        let alone = problem.alone().unwrap();
        assert!(alone.bias.is_none() && alone.alone().is_none());
        c.epilogue.bias = bias(2);
        assert_eq!(Problem::new(&c, &params).unwrap_err().kind, base::ErrorKind::Internal, "outside of its parameter");
        c.epilogue = Epilogue { activation: Some(Activation::GeluTanh), ..Epilogue::default() };
        assert_eq!(Problem::new(&c, &params).unwrap_err().kind, base::ErrorKind::Unsupported);
        (c.epilogue.activation, c.kind) = (Some(Activation::Relu), ConvolutionKind::Data);
        assert_eq!(Problem::new(&c, &params).unwrap_err().kind, base::ErrorKind::Unsupported);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let unsupported = |change: fn(&mut Convolution)| {
            let (mut c, params) = plain();
            change(&mut c);
            Problem::new(&c, &params).unwrap_err().kind
        };
        assert_eq!(unsupported(|c| c.y.dtype = DType::F32), base::ErrorKind::Unsupported);
        assert_eq!(unsupported(|c| c.windows.truncate(1)), base::ErrorKind::Unsupported);
        let wrong: [fn(&mut Convolution); 6] = [
            |c| c.x.offset = 1,
            |c| c.x.extents[0] = 0,
            |c| c.groups = 3,
            |c| c.windows[0].stride = 3,
            |c| c.w.strides[0] = 0,
            |c| c.w.param = 7,
        ];
        for change in wrong {
            assert_eq!(unsupported(change), base::ErrorKind::Internal);
        }
    }
}
