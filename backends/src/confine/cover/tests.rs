//! Order, collapse and pins.
