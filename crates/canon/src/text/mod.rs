//! The text form of the canonical IR.
//!
//! ```text
//! graph   = "canonical" "{" line* "}"
//! line    = node | check | output
//! node    = value "=" op ":" type
//! op      = "input" [layout]
//!         | "constant" "[" integer, ... "]"         -- bit patterns unless the type is an integer
//!         | "slice" value "[" span, ... "]"         -- one span per axis
//!         | "permute" value "[" axis, ... "]"       -- out.shape[k] = shape[list[k]]
//!         | "collapse" value "[" group, ... "]"     -- axes of the operand
//!         | "expand" value "[" group, ... "]"       -- axes of the result
//!         | "broadcast" value                       -- axes of size 1 up to the type's shape
//!         | "windows" value "axis" integer "size" integer   -- places of a run, then its elements
//!         | "whole" value                           -- the same; views of it begin anew
//!         | "gather" value "[" coordinate, ... "]"  -- one coordinate per axis of the operand
//!         | "concat" "[" value, ... "]" "axis" integer
//!         | "fill" bits
//! span    = start ":" length ":" step
//! group   = "[" axis, ... "]"
//! coordinate = "o"N                                 -- output axis N
//!         | value "(" "o"N, ... ")" ["wrap"] ["clamp"]   -- an index read at these output axes
//! check   = "check" value "limit" integer ["wrap"] "op" integer ["column" integer "of" integer]
//! output  = "output" value [layout | "dense" | "copy"]
//! layout  = "strides" "[" integer, ... "]" ["offset" integer]
//! type    = element "[" size, ... "]"
//! ```
//!
//! Values are named in the order of definition; the printer calls them `%0`, `%1`, ... An index
//! without `clamp` makes zero bits outside its axis. A view of a view is read as one layout, if it
//! is one; what is not needed by an output or a check is not kept. What the printer writes parses
//! back to an equal graph.

mod parse;
mod print;

pub use parse::parse;
