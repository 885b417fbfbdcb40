//! The tensor IR: operators as their frameworks spell them, type rules, text form and the oracle.
