//! Files, names and metadata.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use sandproof_probes::{Attempt, NodeKind, OpenFlag};
use tempfile::{TempDir, tempdir};

use crate::client::{WORD, WORD_SHA, done, failed, once, printed, root, unavailable};

crate::tests![
    reads_everything,
    read_failures_name_call_and_errno,
    reading_a_fifo_does_not_hang,
    reading_an_endless_device_stops,
    lists_sorted_names,
    stats_without_following,
    removes_names,
    makes_directories_and_files,
    writes_and_appends,
    truncates_by_path,
    opens_with_flags,
    reads_through_a_path_descriptor,
    renames_and_swaps,
    links,
    changes_mode_and_owner,
    changes_times_and_attributes,
    makes_special_files,
];

fn room() -> (TempDir, impl Fn(&str) -> PathBuf) {
    let room = tempdir().unwrap();
    let path = room.path().to_owned();
    (room, move |name: &str| path.join(name))
}

fn reads_everything() {
    let (_room, at) = room();
    let text = format!("one {WORD}\n{}tail {WORD}x", " ".repeat(5000));
    fs::write(at("file"), &text).unwrap();
    let seen = once(Attempt::Read { path: at("file") });
    assert!(seen.done());
    assert_eq!(seen.text, text[..4096]);
    assert_eq!(seen.length, text.len() as u64);
    assert_eq!(seen.words, [WORD_SHA]);
    fs::write(at("empty"), "").unwrap();
    done(&once(Attempt::Read { path: at("empty") }));
    fs::write(at("bytes"), [0xff, 0, b'a']).unwrap();
    let seen = once(Attempt::Read { path: at("bytes") });
    assert_eq!((seen.text.as_str(), seen.length), ("\u{fffd}\0a", 3));
}

fn read_failures_name_call_and_errno() {
    let (_room, at) = room();
    failed(&once(Attempt::Read { path: at("none") }), "openat", libc::ENOENT);
    failed(&once(Attempt::Read { path: at("") }), "read", libc::EISDIR);
}

fn reading_a_fifo_does_not_hang() {
    let (_room, at) = room();
    nix::unistd::mkfifo(&at("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    done(&once(Attempt::Read { path: at("fifo") }));
    // A writer that stays silent: the wait is bounded, and said to be what it is.
    let both = fs::OpenOptions::new().read(true).write(true).open(at("fifo")).unwrap();
    failed(&once(Attempt::Read { path: at("fifo") }), "read", libc::EAGAIN);
    std::io::Write::write_all(&mut &both, b"word").unwrap();
    printed(&once(Attempt::Read { path: at("fifo") }), "word");
    drop(both);
    failed(&once(Attempt::Append { path: at("fifo"), text: "x".into() }), "openat", libc::ENXIO);
}

fn reading_an_endless_device_stops() {
    let seen = once(Attempt::Read { path: "/dev/zero".into() });
    assert!(seen.done());
    assert_eq!(seen.length, sandproof_probes::perform::READ_LIMIT);
}

fn lists_sorted_names() {
    let (_room, at) = room();
    for name in ["b", "a", ".hidden"] {
        fs::write(at(name), "").unwrap();
    }
    printed(&once(Attempt::List { path: at("") }), ".hidden\na\nb\n");
    failed(&once(Attempt::List { path: at("a") }), "openat", libc::ENOTDIR);
}

fn stats_without_following() {
    let (_room, at) = room();
    fs::write(at("file"), "four").unwrap();
    fs::set_permissions(at("file"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("gone", at("link")).unwrap();
    printed(&once(Attempt::Stat { path: at("file") }), "file 0640 4\n");
    let link = once(Attempt::Stat { path: at("link") });
    assert!(link.text.starts_with("symlink ") && link.text.ends_with(" 4\n"), "{}", link.text);
    failed(&once(Attempt::Stat { path: at("none") }), "fstatat", libc::ENOENT);
}

fn removes_names() {
    let (_room, at) = room();
    fs::write(at("file"), "").unwrap();
    fs::create_dir(at("dir")).unwrap();
    failed(&once(Attempt::Rmdir { path: at("file") }), "unlinkat", libc::ENOTDIR);
    assert!(!once(Attempt::Unlink { path: at("dir") }).done());
    done(&once(Attempt::Unlink { path: at("file") }));
    done(&once(Attempt::Rmdir { path: at("dir") }));
    assert!(!at("file").exists() && !at("dir").exists());
}

fn makes_directories_and_files() {
    let (_room, at) = room();
    done(&once(Attempt::Mkdir { path: at("dir") }));
    failed(&once(Attempt::Mkdir { path: at("dir") }), "mkdirat", libc::EEXIST);
    done(&once(Attempt::Create { path: at("dir/file") }));
    failed(&once(Attempt::Create { path: at("dir/file") }), "openat", libc::EEXIST);
    assert!(at("dir").is_dir());
    assert_eq!(fs::metadata(at("dir/file")).unwrap().len(), 0);
}

fn writes_and_appends() {
    let (_room, at) = room();
    let path = at("file");
    failed(&once(Attempt::Append { path: path.clone(), text: "x".into() }), "openat", libc::ENOENT);
    done(&once(Attempt::Write { path: path.clone(), text: "longer".into() }));
    done(&once(Attempt::Write { path: path.clone(), text: "one".into() }));
    done(&once(Attempt::Append { path: path.clone(), text: "two".into() }));
    assert_eq!(fs::read_to_string(path).unwrap(), "onetwo");
}

fn truncates_by_path() {
    let (_room, at) = room();
    fs::write(at("file"), "content").unwrap();
    done(&once(Attempt::Truncate { path: at("file"), size: 3 }));
    assert_eq!(fs::read_to_string(at("file")).unwrap(), "con");
    done(&once(Attempt::Truncate { path: at("file"), size: 10 }));
    assert_eq!(fs::metadata(at("file")).unwrap().len(), 10);
    failed(&once(Attempt::Truncate { path: at("no"), size: 0 }), "truncate", libc::ENOENT);
}

fn open(path: &Path, flags: &[OpenFlag], then_read: bool) -> Attempt {
    Attempt::Open { path: path.to_owned(), flags: flags.to_vec(), then_read }
}

fn opens_with_flags() {
    use OpenFlag::{Append, Create, Dir, Exclusive, Nofollow, R, Rw, Truncate, W};
    let (_room, at) = room();
    let file = at("file");
    fs::write(&file, "content").unwrap();
    symlink(&file, at("link")).unwrap();
    printed(&once(open(&file, &[R], true)), "content");
    printed(&once(open(&file, &[], true)), "content");
    printed(&once(open(&file, &[Rw], true)), "content");
    printed(&once(open(&file, &[R, W], true)), "content");
    failed(&once(open(&file, &[W], true)), "read", libc::EBADF);
    failed(&once(open(&file, &[W, Create, Exclusive], false)), "openat", libc::EEXIST);
    failed(&once(open(&file, &[R, Dir], false)), "openat", libc::ENOTDIR);
    failed(&once(open(&at("link"), &[R, Nofollow], false)), "openat", libc::ELOOP);
    printed(&once(open(&at(""), &[R, Dir], true)), "file\nlink\n");
    done(&once(open(&file, &[W, Append], false)));
    assert_eq!(fs::read_to_string(&file).unwrap(), "content", "opening alone writes nothing");
    done(&once(open(&file, &[W, Truncate], false)));
    assert_eq!(fs::read_to_string(&file).unwrap(), "");
    done(&once(open(&at("new"), &[W, Create], false)));
    assert!(at("new").exists());
}

fn reads_through_a_path_descriptor() {
    let (_room, at) = room();
    fs::write(at("file"), "content").unwrap();
    let by_path = once(open(&at("file"), &[OpenFlag::Path], true));
    let unnamed = once(open(&at(""), &[OpenFlag::Tmpfile, OpenFlag::Rw], true));
    if cfg!(target_os = "linux") {
        printed(&by_path, "content");
        done(&unnamed);
        assert_eq!(fs::read_dir(at("")).unwrap().count(), 1);
    } else {
        unavailable(&by_path);
        unavailable(&unnamed);
    }
}

fn renames_and_swaps() {
    let (_room, at) = room();
    fs::write(at("a"), "A").unwrap();
    fs::write(at("b"), "B").unwrap();
    let rename = |from: &str, to: &str, exchange| {
        once(Attempt::Rename { from: at(from), to: at(to), exchange })
    };
    done(&rename("a", "b", true));
    assert_eq!(fs::read_to_string(at("a")).unwrap(), "B");
    done(&rename("a", "b", false));
    assert_eq!(fs::read_to_string(at("b")).unwrap(), "B");
    failed(&rename("a", "c", false), "renameat", libc::ENOENT);
    failed(&rename("b", "c", true), "renameat2", libc::ENOENT);
}

fn links() {
    let (_room, at) = room();
    fs::write(at("file"), "").unwrap();
    done(&once(Attempt::Link { from: at("file"), to: at("hard") }));
    assert_eq!(fs::metadata(at("file")).unwrap().nlink(), 2);
    done(&once(Attempt::Symlink { from: "../text".into(), to: at("soft") }));
    printed(&once(Attempt::Readlink { path: at("soft") }), "../text");
    failed(&once(Attempt::Readlink { path: at("file") }), "readlinkat", libc::EINVAL);
    failed(&once(Attempt::Link { from: at("no"), to: at("x") }), "linkat", libc::ENOENT);
    failed(&once(Attempt::Symlink { from: at("no"), to: at("soft") }), "symlinkat", libc::EEXIST);
}

fn changes_mode_and_owner() {
    let (_room, at) = room();
    let path = at("file");
    fs::write(&path, "").unwrap();
    done(&once(Attempt::Chmod { path: path.clone(), mode: 0o4711 }));
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o4711);
    let group = fs::metadata(&path).unwrap().gid();
    done(&once(Attempt::Chown { path: path.clone(), uid: None, gid: Some(group) }));
    let given = once(Attempt::Chown { path: path.clone(), uid: Some(12345), gid: None });
    let found = fs::metadata(&path).unwrap();
    if root() {
        done(&given);
        assert_eq!((found.uid(), found.gid()), (12345, group));
    } else {
        failed(&given, "fchownat", libc::EPERM);
    }
    failed(&once(Attempt::Chmod { path: at("no"), mode: 0 }), "fchmodat", libc::ENOENT);
}

fn changes_times_and_attributes() {
    let (_room, at) = room();
    let path = at("file");
    fs::write(&path, "").unwrap();
    done(&once(Attempt::Utime { path: path.clone(), seconds: 86_400 }));
    let found = fs::metadata(&path).unwrap();
    assert_eq!((found.atime(), found.mtime()), (86_400, 86_400));
    let xattr = |path: PathBuf, name: &str| {
        once(Attempt::Xattr { path, name: name.into(), value: "v".into() })
    };
    let set = xattr(path, "user.word");
    // A temporary folder may lie on a file system without attributes.
    if !set.done() {
        failed(&set, "setxattr", libc::ENOTSUP);
    }
    failed(&xattr(at("no"), "user.word"), "setxattr", libc::ENOENT);
    failed(&once(Attempt::Utime { path: at("no"), seconds: 0 }), "utimensat", libc::ENOENT);
}

fn makes_special_files() {
    let (_room, at) = room();
    let mknod = |kind| {
        let path = at(&format!("{kind:?}"));
        let seen = once(Attempt::Mknod { path: path.clone(), kind });
        (seen, fs::symlink_metadata(path))
    };
    let (seen, found) = mknod(NodeKind::Fifo);
    done(&seen);
    assert!(found.unwrap().file_type().is_fifo());
    for (kind, device) in [
        (NodeKind::Char, libc::makedev(1, 3)),
        (NodeKind::Block, libc::makedev(7, 0)),
        (NodeKind::Whiteout, 0),
    ] {
        let (seen, found) = mknod(kind);
        if seen.done() {
            assert_eq!(found.unwrap().rdev() as libc::dev_t, device, "{kind:?}");
        } else {
            failed(&seen, "mknod", libc::EPERM); // an ordinary user, or root of a container
        }
    }
    if cfg!(target_os = "linux") {
        let (seen, found) = mknod(NodeKind::Socket);
        done(&seen);
        assert!(found.unwrap().file_type().is_socket());
    }
}
