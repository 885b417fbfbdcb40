//! Names that C has for functions.

/// What C and C++ keep for themselves, what compilers of C call of their own accord, and the parameters of a kernel.
const KEPT: &str = "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t \
    char32_t char8_t class co_await co_return co_yield compl concept const const_cast \
    consteval constexpr constinit continue decltype default delete do double dynamic_cast \
    else enum errno explicit export extern false float for friend goto i386 if in inline int \
    linux long main memcmp memcpy memmove memset mutable namespace new noexcept not not_eq \
    nullptr operator or or_eq out private protected public register reinterpret_cast \
    requires restrict return scratch short signed sizeof static static_assert static_cast \
    struct switch template this thread_local throw true try typedef typeid typename typeof \
    typeof_unqual union unix unsigned using virtual void volatile wchar_t while xor xor_eq";

/// A name that no function of C can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no name for a function of C: letters, digits and `_`, of which a letter is the first"
)]
pub struct BadName(String);

/// Whether a function of C may be called so.
pub fn check_name(name: &str) -> Result<(), BadName> {
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
    let goes_on = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let is_kept = KEPT.split(' ').any(|kept| kept == name);
    match begins && goes_on && name.len() <= 200 && !is_kept {
        true => Ok(()),
        false => Err(BadName(name.escape_debug().take(80).collect())),
    }
}

#[cfg(test)]
mod tests {
    use super::check_name;

    #[test]
    fn names_are_those_of_c() {
        for good in ["heads", "h2", "To_nhwc", "z"] {
            assert_eq!(check_name(good), Ok(()), "{good}");
        }
        let long = "a".repeat(201);
        for bad in [
            "", "2d", "_x", "a-b", "a b", "é", "int", "while", "scratch", "a*/", &long,
        ] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
        let error = check_name("a\nb").expect_err("a line's end");
        assert!(
            error.to_string().starts_with("`a\\nb` is no name"),
            "{error}"
        );
    }
}
