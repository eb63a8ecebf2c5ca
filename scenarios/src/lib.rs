//! Floor 1: the catalogue of promises and its grammar. Reads files, starts nothing.
//!
//! In reading order: a [`Scenario`] has a policy, a world to build ([`Fixture`]), routes made of
//! [`Step`]s, and what must hold afterwards ([`Effects`]).

pub mod capability;
pub mod catalogue;
pub mod complaint;
pub mod effect;
pub mod explain;
mod file;
pub mod fixture;
pub mod glob;
pub mod lint;
pub mod load;
mod names;
pub mod policy;
pub mod promise;
pub mod resolve;
pub mod room;
mod rules;
pub mod scenario;
pub mod schema;
mod shorthand;
pub mod step;
pub mod template;
pub mod waiver;
pub mod yaml;

pub use capability::Capability;
pub use complaint::{Complaint, Level};
pub use effect::{Effects, PathEffect};
pub use fixture::Fixture;
pub use policy::{Network, Policy, PolicySpec, Profile, Rooms};
pub use promise::{Platform, Promise, Strength};
pub use room::{PathArg, Room, RoomPath};
pub use scenario::{Expectation, Route, Scenario, Severity};
pub use step::Step;
pub use waiver::Waiver;
