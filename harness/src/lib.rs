//! Floor 3: plans, runs and judges. The composition root and the command line.
//!
//! One function per arrow of the flow: `request` loads, `plan` plans, `world` builds, `session`
//! and `script` drive, `photo` and `inspect` look from outside, `judge` judges, `consume` records.

pub mod arena_root;
pub mod arm;
pub mod cell;
pub mod channel;
pub mod cli;
pub mod command;
pub mod consume;
pub mod denial;
pub mod dispatch;
pub mod engine;
pub mod evidence;
pub mod identity;
pub mod inspect;
pub mod judge;
pub mod listener;
mod own_log;
pub mod photo;
pub mod plan;
pub mod progress;
pub mod provenance;
pub mod request;
pub mod rng;
pub mod script;
pub mod session;
pub mod supervisor;
pub mod victim;
pub mod whose;
pub mod world;
