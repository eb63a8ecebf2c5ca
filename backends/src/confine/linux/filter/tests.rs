//! The program is run by an interpreter, call by call.
