//! Protocol lines under a nonce that the liar invented.

use std::io::{self, BufRead, Write};

use sandproof_probes::wire::{Answer, Ask, Hello, Reply, Request, VERSION};
use sandproof_probes::{Observation, Outcome};

/// No session has this nonce.
const INVENTED: &str = "00112233445566778899aabbccddeeff";

/// What a perfect sandbox would let the probe answer, but under the invented nonce.
pub(super) fn forged(request: &Request) -> Reply {
    let answer = match &request.ask {
        Ask::Hello => {
            Answer::Hello(Hello { pid: 2, no_new_privs: true, seccomp: 2, ..Hello::default() })
        }
        Ask::Begin | Ask::End | Ask::Bye => Answer::Ready,
        Ask::Try(_) => Answer::Saw(Observation::bare(Outcome::Errno {
            call: "openat".to_owned(),
            number: libc::EPERM,
        })),
    };
    Reply { v: VERSION, nonce: INVENTED.to_owned(), seq: request.seq, answer }
}

/// Answers every request by a forgery until the harness closes its end.
pub(super) fn forge() -> io::Result<i32> {
    let mut out = io::stdout().lock();
    // One nobody asked for: a harness that takes the first hello for the answer is fooled at once.
    let unasked = Request { v: VERSION, nonce: INVENTED.to_owned(), seq: 1, ask: Ask::Hello };
    say(&mut out, &forged(&unasked))?;
    for line in io::stdin().lock().lines() {
        if let Ok(request) = serde_json::from_str(&line?) {
            say(&mut out, &forged(&request))?;
        }
    }
    Ok(0)
}

/// One line.
pub(super) fn say(out: &mut impl Write, reply: &Reply) -> io::Result<()> {
    let line = serde_json::to_string(reply).map_err(io::Error::from)?;
    writeln!(out, "{line}")?;
    out.flush()
}
