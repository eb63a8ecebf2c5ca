//! Floor 2: how each sandbox is started; the reference sandbox. Knows no expectation and no verdict.

pub mod backend;
pub mod bare;
pub mod confine;
pub mod glob;
pub mod host;
pub mod identify;
pub mod launch;
pub mod liars;
pub mod manifest;
pub mod mechanism;
pub mod paths;
pub mod registry;
pub mod seatbelt;

pub use backend::{Backend, Gap, NotReady, Subject};
pub use launch::{Express, Launch, ReceiptItem, Unsupported};
