//! Grants of each profile, and what the options add.
