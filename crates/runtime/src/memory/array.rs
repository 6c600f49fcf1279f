//! Strided arrays over buffers.

use std::sync::Arc;

use base::{Error, Result};
use scalar::{DType, Scalar};

use super::{Buffer, Pool};

const _: () = assert!(cfg!(target_endian = "little"), "stored bytes are little-endian");

/// A typed view of a buffer: element `i` lies at element `offset + Σ strides[a]·i[a]`.
#[derive(Clone, Debug)]
pub struct Array {
    /// Memory.
    pub buffer: Arc<Buffer>,
    /// Element type.
    pub dtype: DType,
    /// Extents.
    pub shape: Vec<usize>,
    /// Distance in elements between neighbours of each axis.
    pub strides: Vec<isize>,
    /// Element position of index 0.
    pub offset: usize,
}

impl Array {
    /// A new row-major array with unspecified contents.
    ///
    /// # Errors
    /// Out of memory, or a size beyond the address space.
    pub fn contiguous(pool: &Pool, dtype: DType, shape: &[usize]) -> Result<Array> {
        let bytes = shape.iter().try_fold(dtype.size(), |n, &d| n.checked_mul(d));
        let bytes = bytes.ok_or_else(|| Error::invalid(format!("{dtype}{shape:?} is larger than the address space")))?;
        let buffer = Arc::new(pool.alloc(bytes)?);
        Ok(Array { buffer, dtype, shape: shape.to_vec(), strides: row_major(shape), offset: 0 })
    }

    /// A new row-major array with the given little-endian bytes.
    ///
    /// # Errors
    /// A byte count that does not match, or out of memory.
    pub fn from_bytes(pool: &Pool, dtype: DType, shape: &[usize], bytes: &[u8]) -> Result<Array> {
        let array = Array::contiguous(pool, dtype, shape)?;
        if bytes.len() != array.buffer.len() {
            let want = array.buffer.len();
            return Err(Error::invalid(format!("{dtype}{shape:?} takes {want} bytes, {} were given", bytes.len())));
        }
        array.buffer.write(0, bytes)?;
        Ok(array)
    }

    /// A 0-d array.
    ///
    /// # Errors
    /// Out of memory.
    pub fn scalar(pool: &Pool, value: Scalar) -> Result<Array> {
        Array::from_bytes(pool, value.dtype(), &[], &value.bits().to_le_bytes()[..value.dtype().size()])
    }

    /// A row-major array over the whole of an existing buffer's beginning.
    ///
    /// # Errors
    /// The buffer is too small.
    pub fn over(buffer: Arc<Buffer>, dtype: DType, shape: &[usize]) -> Result<Array> {
        let array = Array { buffer, dtype, shape: shape.to_vec(), strides: row_major(shape), offset: 0 };
        array.check()?;
        Ok(array)
    }

    /// Number of elements.
    pub fn elements(&self) -> usize {
        self.shape.iter().product()
    }
    /// Position of index 0 in bytes.
    pub fn offset_bytes(&self) -> usize {
        self.offset * self.dtype.size()
    }
    /// Whether elements lie densely in row-major order.
    pub fn is_contiguous(&self) -> bool {
        let mut dense = 1;
        self.elements() == 0
            || self.shape.iter().zip(&self.strides).rev().all(|(&d, &s)| {
                let fits = d == 1 || s == dense;
                dense *= d as isize;
                fits
            })
    }

    /// Dense row-major little-endian bytes.
    ///
    /// # Errors
    /// The view reaches outside its buffer.
    pub fn to_vec_bytes(&self) -> Result<Vec<u8>> {
        self.check()?;
        let (size, count) = (self.dtype.size(), self.elements());
        let mut out = vec![0; size * count];
        if self.is_contiguous() {
            self.buffer.read(if count == 0 { 0 } else { self.offset_bytes() }, &mut out)?;
            return Ok(out);
        }
        let host = if self.buffer.is_on_gpu() { self.on_host()? } else { None };
        let array = host.as_ref().unwrap_or(self);
        match size {
            1 => array.gather::<1>(&mut out),
            2 => array.gather::<2>(&mut out),
            4 => array.gather::<4>(&mut out),
            _ => array.gather::<8>(&mut out),
        }
        Ok(out)
    }

    /// The same elements in memory of the host: everything that they span, copied; `None` without elements. The view was checked.
    fn on_host(&self) -> Result<Option<Array>> {
        if self.elements() == 0 {
            return Ok(None);
        }
        let spans = || self.shape.iter().zip(&self.strides).map(|(&d, &s)| (d as isize - 1) * s);
        let first = self.offset as isize + spans().map(|s| s.min(0)).sum::<isize>();
        let last = self.offset as isize + spans().map(|s| s.max(0)).sum::<isize>();
        let size = self.dtype.size();
        let mut bytes = vec![0; (last - first + 1) as usize * size];
        self.buffer.read(first as usize * size, &mut bytes)?;
        let buffer = Pool::new().alloc(bytes.len())?;
        buffer.write(0, &bytes)?;
        Ok(Some(Array { buffer: Arc::new(buffer), offset: self.offset - first as usize, ..self.clone() }))
    }

    /// The element at an index.
    ///
    /// # Errors
    /// An index outside the shape, or a view that reaches outside its buffer.
    pub fn get(&self, index: &[usize]) -> Result<Scalar> {
        let inside = index.len() == self.shape.len() && index.iter().zip(&self.shape).all(|(i, d)| i < d);
        if !inside {
            return Err(Error::invalid(format!("index {index:?} is outside {}{:?}", self.dtype, self.shape)));
        }
        self.check()?;
        let at = self.offset as isize + index.iter().zip(&self.strides).map(|(&i, &s)| i as isize * s).sum::<isize>();
        let (mut bits, size) = ([0; 8], self.dtype.size());
        self.buffer.read(at as usize * size, &mut bits[..size])?;
        Ok(Scalar::from_bits(self.dtype, u64::from_le_bytes(bits)))
    }

    /// The only element.
    ///
    /// # Errors
    /// There is not exactly one.
    pub fn item(&self) -> Result<Scalar> {
        if self.elements() != 1 {
            return Err(Error::invalid(format!("{}{:?} has {} elements, not one", self.dtype, self.shape, self.elements())));
        }
        self.get(&vec![0; self.shape.len()])
    }

    /// Checks that every element lies inside the buffer.
    fn check(&self) -> Result<()> {
        if self.shape.len() == self.strides.len() && (self.elements() == 0 || self.reach().is_some()) {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "view {}{:?} with strides {:?} at element {} reaches outside its buffer of {} bytes",
            self.dtype,
            self.shape,
            self.strides,
            self.offset,
            self.buffer.len()
        )))
    }

    fn reach(&self) -> Option<()> {
        let (mut least, mut most) = (isize::try_from(self.offset).ok()?, isize::try_from(self.offset).ok()?);
        for (&d, &s) in self.shape.iter().zip(&self.strides) {
            let span = isize::try_from(d - 1).ok()?.checked_mul(s)?;
            least = least.checked_add(span.min(0))?;
            most = most.checked_add(span.max(0))?;
        }
        (least >= 0 && (most as usize) < self.buffer.len() / self.dtype.size()).then_some(())
    }

    /// Copies elements of `N` bytes in row-major order; the view was checked.
    fn gather<const N: usize>(&self, out: &mut [u8]) {
        let Some((&inner, outer)) = self.shape.split_last() else { return };
        let step = self.strides[outer.len()];
        let mut index = vec![0usize; outer.len()];
        let source = self.buffer.as_ptr().cast_const().cast::<[u8; N]>();
        for row in out.as_chunks_mut::<N>().0.chunks_exact_mut(inner.max(1)) {
            let start = index.iter().zip(&self.strides).map(|(&i, &s)| i as isize * s).sum::<isize>() + self.offset as isize;
            for (i, slot) in row.iter_mut().enumerate() {
                // SAFETY: `check` proved that every element of the view lies inside the buffer.
                *slot = unsafe { source.offset(start + i as isize * step).read() };
            }
            for (i, &d) in index.iter_mut().zip(outer).rev() {
                *i += 1;
                if *i < d {
                    break;
                }
                *i = 0;
            }
        }
    }
}

fn row_major(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![1; shape.len()];
    for a in (1..shape.len()).rev() {
        strides[a - 1] = strides[a] * shape[a].max(1) as isize;
    }
    strides
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counting(pool: &Pool) -> Array {
        let bytes: Vec<u8> = (0..12u16).flat_map(u16::to_le_bytes).collect();
        Array::from_bytes(pool, DType::U16, &[3, 4], &bytes).unwrap()
    }

    fn values(array: &Array) -> Vec<u16> {
        array.to_vec_bytes().unwrap().chunks(2).map(|b| u16::from_le_bytes([b[0], b[1]])).collect()
    }

    #[test]
    fn strided_views_gather_densely() {
        let pool = Pool::new();
        let a = counting(&pool);
        assert!(a.is_contiguous());
        let transposed = Array { shape: vec![4, 3], strides: vec![1, 4], ..a.clone() };
        assert!(!transposed.is_contiguous());
        assert_eq!(values(&transposed), [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11]);
        let flipped = Array { shape: vec![2, 2], strides: vec![-8, -1], offset: 11, ..a.clone() };
        assert_eq!(values(&flipped), [11, 10, 3, 2]);
        let repeated = Array { shape: vec![2, 2], strides: vec![0, 0], offset: 5, ..a };
        assert_eq!(values(&repeated), [5, 5, 5, 5]);
        assert_eq!(repeated.get(&[1, 0]).unwrap().as_i64(), 5);
    }

    #[test]
    fn empty_and_scalar_arrays() {
        let pool = Pool::new();
        let empty = Array::contiguous(&pool, DType::F32, &[3, 0, 2]).unwrap();
        assert_eq!(empty.to_vec_bytes().unwrap(), []);
        let one = Array::scalar(&pool, Scalar::f32(2.5)).unwrap();
        assert_eq!(one.item().unwrap(), Scalar::f32(2.5));
        assert!(empty.item().is_err());
    }

    #[test]
    fn views_outside_the_buffer_are_errors() {
        let pool = Pool::new();
        let a = counting(&pool);
        for (strides, offset) in [(vec![4, 1], 1), (vec![-4, 1], 0), (vec![isize::MAX, 1], 0)] {
            assert!(Array { strides, offset, ..a.clone() }.to_vec_bytes().is_err());
        }
        assert!(Array::from_bytes(&pool, DType::F32, &[2], &[0; 7]).is_err());
        assert!(Array::contiguous(&pool, DType::F32, &[usize::MAX, 4]).is_err());
    }

    #[test]
    fn foreign_memory_is_borrowed_when_aligned() {
        let pool = Pool::new();
        let owner: Arc<Vec<u8>> = Arc::new((0..64).collect());
        let at = owner.as_ptr();
        let buffer = Buffer::foreign(&pool, owner, DType::F64).unwrap();
        assert!(std::ptr::eq(buffer.as_ptr(), at) && !buffer.is_writable() && buffer.write(0, &[1]).is_err());
        struct Skewed(Vec<u8>);
        impl AsRef<[u8]> for Skewed {
            fn as_ref(&self) -> &[u8] {
                &self.0[1..9]
            }
        }
        let copy = Buffer::foreign(&pool, Arc::new(Skewed((0..16).collect())), DType::F32).unwrap();
        let mut back = [0; 8];
        copy.read(0, &mut back).unwrap();
        assert!(copy.is_writable() && back == [1, 2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn an_empty_view_may_start_past_the_end_of_its_memory() {
        let pool = Pool::new();
        let nothing = Array { offset: 7, ..Array::contiguous(&pool, DType::F32, &[3, 0]).unwrap() };
        assert!(nothing.to_vec_bytes().unwrap().is_empty());
        let to = Array::contiguous(&pool, DType::F32, &[0]).unwrap();
        to.buffer.copy_from(4, &nothing.buffer, nothing.offset_bytes(), 0).unwrap();
        to.buffer.write(4, &[]).unwrap();
        assert!(to.buffer.write(4, &[1]).is_err(), "one byte is past the end");
    }
}
