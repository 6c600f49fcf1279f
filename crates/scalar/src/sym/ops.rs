//! Conversions and operators.

use std::ops::{Add, Mul, Neg, Sub};

use super::{Repr, Sym, Var};

impl From<i64> for Sym {
    fn from(v: i64) -> Sym {
        Sym(Repr::Const(v))
    }
}
impl From<i32> for Sym {
    fn from(v: i32) -> Sym {
        Sym(Repr::Const(i64::from(v)))
    }
}
impl From<usize> for Sym {
    /// The poison value when it exceeds i64.
    fn from(v: usize) -> Sym {
        i64::try_from(v).map_or(Sym::overflow(), Sym::from)
    }
}
impl From<Var> for Sym {
    fn from(v: Var) -> Sym {
        Sym::var(v)
    }
}
impl From<&Sym> for Sym {
    fn from(s: &Sym) -> Sym {
        s.clone()
    }
}

impl Neg for &Sym {
    type Output = Sym;
    fn neg(self) -> Sym {
        self * -1
    }
}
impl Neg for Sym {
    type Output = Sym;
    fn neg(self) -> Sym {
        -&self
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, $full:path) => {
        impl $trait<&Sym> for &Sym {
            type Output = Sym;
            fn $method(self, other: &Sym) -> Sym {
                $full(self, other)
            }
        }
        impl $trait<Sym> for Sym {
            type Output = Sym;
            fn $method(self, other: Sym) -> Sym {
                $full(&self, &other)
            }
        }
        impl $trait<&Sym> for Sym {
            type Output = Sym;
            fn $method(self, other: &Sym) -> Sym {
                $full(&self, other)
            }
        }
        impl $trait<Sym> for &Sym {
            type Output = Sym;
            fn $method(self, other: Sym) -> Sym {
                $full(self, &other)
            }
        }
        impl $trait<i64> for Sym {
            type Output = Sym;
            fn $method(self, other: i64) -> Sym {
                $full(&self, &Sym::from(other))
            }
        }
        impl $trait<i64> for &Sym {
            type Output = Sym;
            fn $method(self, other: i64) -> Sym {
                $full(self, &Sym::from(other))
            }
        }
        impl $trait<Sym> for i64 {
            type Output = Sym;
            fn $method(self, other: Sym) -> Sym {
                $full(&Sym::from(self), &other)
            }
        }
        impl $trait<&Sym> for i64 {
            type Output = Sym;
            fn $method(self, other: &Sym) -> Sym {
                $full(&Sym::from(self), other)
            }
        }
    };
}

operator!(Add, add, Sym::plus);
operator!(Sub, sub, Sym::minus);
operator!(Mul, mul, Sym::times);

impl std::ops::AddAssign<&Sym> for Sym {
    fn add_assign(&mut self, other: &Sym) {
        *self = &*self + other;
    }
}
impl std::ops::AddAssign<Sym> for Sym {
    fn add_assign(&mut self, other: Sym) {
        *self = &*self + &other;
    }
}
impl std::iter::Sum for Sym {
    fn sum<I: Iterator<Item = Sym>>(iter: I) -> Sym {
        iter.fold(Sym::ZERO, |a, b| a + b)
    }
}
