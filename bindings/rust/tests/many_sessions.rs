//! Ten thousand sessions made and dropped, in a program of its own, whose memory nothing else changes.
mod common;

use common::*;

/// Bytes of this process that are in memory; 0 where the system does not tell in this way.
fn resident_bytes() -> u64 {
    let pages = |text: String| text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok());
    std::fs::read_to_string("/proc/self/statm").ok().and_then(pages).unwrap_or(0) * 4096
}

#[test]
fn ten_thousand_sessions_leave_nothing() {
    let engine = load();
    let make = |n: usize| {
        for i in 0..n {
            let mut session = endless(&engine);
            if i % 50 == 0 {
                session.prefill(PROMPT).unwrap();
                let mut fork = session.fork().unwrap();
                drop(session);
                draw(&mut fork, 1);
            }
        }
    };
    make(1000);
    let before = resident_bytes();
    make(10_000);
    let grown = resident_bytes().saturating_sub(before);
    assert!(grown < 4 << 20, "{grown} bytes more than before");
    let stats = engine.stats().unwrap();
    assert_eq!((stats.n_sessions, stats.n_kv_blocks_used), (0, 0));
    // The same figures notice a session that is still there.
    let _kept = begun(&engine);
    let stats = engine.stats().unwrap();
    assert_eq!(stats.n_sessions, 1);
    assert!(stats.n_kv_blocks_used > 0);
}
