//! Tables of the functions that a library exports.

/// Declares a struct with one pointer per function, and a loader that fails with the name of a missing one. Functions return the
/// table's type, those under `optional` may be missing, and those under `other` return what they say.
macro_rules! table {
    (
        $(#[$meta:meta])* $name:ident -> $ret:ty {
            $($field:ident = $symbol:literal: ($($arg:ty),*);)*
        }
        optional { $($maybe:ident = $maybe_symbol:literal: ($($maybe_arg:ty),*);)* }
        other { $($other:ident = $other_symbol:literal: ($($other_arg:ty),*) -> $other_ret:ty;)* }
    ) => {
        $(#[$meta])*
        pub(crate) struct $name {
            $(pub(crate) $field: unsafe extern "C" fn($($arg),*) -> $ret,)*
            $(pub(crate) $maybe: Option<unsafe extern "C" fn($($maybe_arg),*) -> $ret>,)*
            $(pub(crate) $other: unsafe extern "C" fn($($other_arg),*) -> $other_ret,)*
            /// Keeps the functions where they are.
            _library: libloading::Library,
        }

        impl $name {
            /// Looks every function up.
            ///
            /// # Errors
            /// The name of a missing one.
            pub(crate) fn load(library: libloading::Library) -> Result<$name, String> {
                // SAFETY: the library's headers declare the functions of these names with these types; the pointers live in the
                // table, which keeps the library.
                unsafe {
                    Ok($name {
                        $($field: *library.get($symbol).map_err(|e| format!("{:?}: {e}", $symbol))?,)*
                        $($maybe: library.get($maybe_symbol).ok().map(|f| *f),)*
                        $($other: *library.get($other_symbol).map_err(|e| format!("{:?}: {e}", $other_symbol))?,)*
                        _library: library,
                    })
                }
            }
        }
    };
}

pub(crate) use table;
