//! Order, collapse and pins.

use std::path::PathBuf;

use super::{Kind, Wanted, arrange};

fn paths(list: &[&str]) -> Vec<PathBuf> {
    list.iter().map(PathBuf::from).collect()
}

fn laid(limited: bool, write: &[&str], freeze: &[&str], mask: &[&str]) -> Vec<(Kind, String)> {
    let (write, freeze, mask) = (paths(write), paths(freeze), paths(mask));
    shown(&Wanted { limited, write, freeze, mask, ..Wanted::default() })
}

fn shown(wanted: &Wanted) -> Vec<(Kind, String)> {
    let covers = arrange(wanted).into_iter();
    covers.map(|cover| (cover.kind, cover.path.display().to_string())).collect()
}

fn cover(kind: Kind, path: &str) -> (Kind, String) {
    (kind, path.to_owned())
}

#[test]
fn write_roots_come_first_and_outermost_only() {
    let covers = laid(true, &["/w/in", "/w", "/a/b"], &[], &[]);
    assert_eq!(covers, [cover(Kind::Open, "/a/b"), cover(Kind::Open, "/w")]);
}

#[test]
fn every_folder_between_write_root_and_leaf_is_pinned() {
    let covers = laid(true, &["/w"], &[], &["/w/a/b/secret"]);
    let wanted = [
        cover(Kind::Open, "/w"),
        cover(Kind::Pin, "/w/a"),
        cover(Kind::Pin, "/w/a/b"),
        cover(Kind::Mask, "/w/a/b/secret"),
    ];
    assert_eq!(covers, wanted);
}

#[test]
fn outside_the_write_roots_nothing_needs_a_pin() {
    let covers = laid(true, &["/w"], &[], &["/etc/deep/secret"]);
    assert_eq!(covers, [cover(Kind::Open, "/w"), cover(Kind::Mask, "/etc/deep/secret")]);
}

#[test]
fn without_limits_everything_up_to_the_root_is_pinned() {
    let covers = laid(false, &[], &["/a/b/c"], &[]);
    let wanted = [cover(Kind::Pin, "/a"), cover(Kind::Pin, "/a/b"), cover(Kind::Freeze, "/a/b/c")];
    assert_eq!(covers, wanted);
}

#[test]
fn what_lies_in_a_masked_folder_needs_no_cover() {
    let covers = laid(true, &["/w"], &["/w/s/hooks"], &["/w/s", "/w/s/a/b", "/w/s.txt"]);
    let wanted =
        [cover(Kind::Open, "/w"), cover(Kind::Mask, "/w/s"), cover(Kind::Mask, "/w/s.txt")];
    assert_eq!(covers, wanted);
}

#[test]
fn a_mask_in_a_frozen_folder_needs_no_pin_there() {
    let covers = laid(true, &["/w"], &["/w/f"], &["/w/f/a/secret"]);
    let wanted =
        [cover(Kind::Open, "/w"), cover(Kind::Freeze, "/w/f"), cover(Kind::Mask, "/w/f/a/secret")];
    assert_eq!(covers, wanted);
}

#[test]
fn names_that_share_a_beginning_are_not_one_inside_the_other() {
    let covers = laid(true, &["/w", "/w-2"], &[], &[]);
    assert_eq!(covers, [cover(Kind::Open, "/w"), cover(Kind::Open, "/w-2")]);
}

#[test]
fn outer_covers_are_laid_before_inner_ones() {
    let covers = laid(false, &[], &["/z", "/a/b/c"], &["/m/n"]);
    let depths: Vec<usize> = covers.iter().map(|(_, path)| path.matches('/').count()).collect();
    assert!(depths.is_sorted(), "{covers:?}");
}

#[test]
fn a_write_root_in_a_masked_folder_is_none() {
    let covers = laid(true, &["/w/in", "/v"], &[], &["/w"]);
    assert_eq!(covers, [cover(Kind::Open, "/v"), cover(Kind::Mask, "/w")]);
}

#[test]
fn grok_3_25_pins_of_denied_paths_can_be_given_up_those_of_protected_ones_not() {
    let (write, freeze, mask) = (paths(&["/w"]), paths(&["/w/p/conf"]), paths(&["/w/d/secret"]));
    let wanted = Wanted { limited: true, write, freeze, mask, loose: true, ..Wanted::default() };
    let covers = [
        cover(Kind::Open, "/w"),
        cover(Kind::Pin, "/w/p"),
        cover(Kind::Freeze, "/w/p/conf"),
        cover(Kind::Mask, "/w/d/secret"),
    ];
    assert_eq!(shown(&wanted), covers);
    let pins = shown(&Wanted { loose: false, ..wanted });
    assert!(pins.contains(&cover(Kind::Pin, "/w/d")), "{pins:?}");
}

#[test]
fn a_fresh_folder_holds_nothing_to_cover() {
    let (write, fresh) = (paths(&["/w"]), paths(&["/s"]));
    let (freeze, mask) = (paths(&["/s/f"]), paths(&["/s/m", "/w/m"]));
    let wanted = Wanted { limited: true, write, fresh, freeze, mask, loose: false };
    let covers = [cover(Kind::Open, "/w"), cover(Kind::Fresh, "/s"), cover(Kind::Mask, "/w/m")];
    assert_eq!(shown(&wanted), covers);
}
