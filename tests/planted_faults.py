#!/usr/bin/env python3
"""Plants faults in the engine, one at a time, and expects the unit tests to find each.

usage: planted_faults.py [--folder PATH] [--list] [NAME...]
  NAME      plants these faults only
  --list    only prints the faults, and checks that each still fits the sources
  --folder  where the copy of the sources and its build are (build/planted-faults); a later run goes on with them

The sources are copied, the checkout is not touched. The unchanged copy must pass the tests of all faults first. Exit code 0 only if
every fault was found: a test failed, the program crashed, or it did not come to an end.
"""
import argparse
import collections
import os
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = "unit_engine"
CONSTRAINT_PROGRAM = "unit_constraint"  # of faults in src/constraint
LIMIT_S = 120  # of one run of the tests; a fault may stop them for good

# file: in src/engine, or constraint/FILE. tests: a filter of GoogleTest's. edits: pairs of a text that is in the file exactly once, and of what it becomes.
Fault = collections.namedtuple("Fault", "name file tests edits")
NUMBER = (("found.parent == before.number && ", ""),)
FAULTS = [Fault(*row) for row in (
    ("a chunk of one token is a prompt", "request_steps.cpp", "*EngineRequestParts.*/cpu", [("if (n_rows > 1) return PartKind::prompts;", "if (n_rows >= 1) return PartKind::prompts;")]),
    ("single tokens come behind the prompts", "work.cpp", "DescribeStep.*", [("for (const bool decodes : {true, false}) {", "for (const bool decodes : {false, true}) {")]),
    ("several rows that decode are described as a prompt", "work.cpp", "DescribeStep.*", [(", .rows = work.rows});", "});")]),
    ("who may not draw computes the last token", "request_steps.cpp", "*RequestSessions.*/cpu",
     [("return keeps_last && end == seq.n_tokens() ? end - 1 : end;", "return end;")]),
    ("a request that waits for a prefix takes rows", "request_steps.cpp", "*EngineRequestParts.*/cpu", [("while (look_for_asked() || leave_out_those_that_wait(now, limits.age));", "while (false);")]),
    ("a hit takes two steps", "request_steps.cpp", "*EngineRequestParts.PromptsThat*/cpu", [("if (request.run.session->seq_.n_computed > views_[i].n_cached) out = Begun::otherwise;", "")]),
    ("who waits for a prefix lends no level", "request_steps.cpp", "*EngineRequestParts.Who*/cpu", [("view.priority = level, view.waiting_since = now;", "(void)view;")]),
    ("a prompt ages while it has chunks", "request_steps.cpp", "*EngineRequestParts.PromptsThat*/cpu", [("run.waiting_since = live_.now();", "(void)run;")]),
    ("a session does not look for what it had before", "live_requests.cpp", "*RequestSessions.*/cpu", [("> seq.n_computed) engine_.sequences_.go_back(seq, 0);", "> seq.n_computed) (void)seq;")]),
    ("drawn tokens do not count in the time of a step", "round.cpp", "Round.*", [("limits_.max_timed_tokens - n_tokens_)", "limits_.max_timed_tokens)")]),
    ("a place is made for one that does not begin", "round.cpp", "Round.*", [("if (n_room < n || lacks_place) return false;", "if (n_room < n || lacks_place) {\n    if (!gone_.empty()) put_out(gone_[0], out);\n    return false;\n  }")]),
    ("blocks that one begins with are room for others", "round.cpp", "Round.*", [("std::max(at(other).n_shared, n_taken);", "at(other).n_shared;")]),
    ("blocks that one who runs has are wanted again", "request_steps.cpp", "*EngineRequestParts.Shared*/cpu", [("view.n_found = found.n_blocks;", "view.n_found = 0 * found.n_blocks;")]),
    ("what conversations have in common is wanted again", "live_requests.cpp", "*RequestSessions.BlocksThat*/cpu", [("n_own / kKvBlockTokens, KvPools::n_same(own->seq_.kv, of_best)", "0 * n_own, KvPools::n_same(own->seq_.kv, of_best)")]),
    ("a deadline comes before who has waited for ever", "round.cpp", "Round.*", [("return now < overdue ? request.deadline : std::min(request.deadline, overdue);", "return overdue < 0 ? overdue : request.deadline;")]),
    ("a vector that was put out counts rows twice", "live_requests.cpp", "*RequestVectors.*/cpu",
     [("if (run.vector && seq.n_computed == 0) run.vector", "if (run.vector && !run.vector->made) run.vector")]),
    ("a vector lacks the rows that were computed for another request", "live_requests.h", "*RequestVectors.*/cpu", [("return keeps_ && !request.embeds(); }", "return keeps_ && request.id > 0; }")]),
    ("what draws shares the step of a vector on a device whose kernels are others then", "request_steps.cpp", "*RequestVectors.SharesItsSteps/cpu",
     [("in_units || (asks && !engine_.backend_->asks_beside_singles());", "in_units;")]),
    ("rows of single tokens go to other vectors", "work.cpp", "*RequestVectors.*/cpu", [("int32_t& row = next[work.decodes() ? 0 : 1];", "int32_t& row = next[0];")]),
    ("a text that is one part is cut", "round.cpp", "Round.*:*RequestVectors.*/cpu", [("if (!at(i).is_whole || n <= n_left) return", "if (n_left >= 0) return")]),
    ("a draw comes without its mask", "request_steps.cpp", "*Constrained.*/cpu", [("request->run.session->make_mask();", "(void)request;")]),
    ("what a shift took out is not taken back", "session.cpp", "*Constrained.*/cpu", [("n_back += gap.at > seq_.tokens.size() ? static_cast<size_t>(gap.n) : 0;", "(void)gap;")]),
    ("a shift moves no constraint", "session.cpp", "*Constrained.*/cpu", [("constrained_from_ = moved(constrained_from_);", "")]),
    ("a constraint is set while a step runs", "session.cpp", "*Constrained.*/cpu",
     [("INLAY_TRY(check_not_in_slices());\n  SessionOptions changed", "SessionOptions changed")]),
    ("saved: what a shift took out is lost", "session_bytes.cpp", "*Constrained.*/cpu", [(".taken_out = s.taken_out_,", ".taken_out = {},")]),
    ("saved: another compiler's constraint is taken", "session_bytes.cpp", "*SavedSessions.*/cpu", [("if (saved.compiler != constraint::kCompilerVersion)", "if (false)")]),
    ("an over-tight mask: tokens that end a string are missing", "constraint/masks.cpp", "ConstraintMasks.*", [("for (const int32_t token : level.closing) set_bit(words, token);", "")]),
    ("an over-tight mask: a length too few", "constraint/masks.cpp", "ConstraintMasks.*", [("for (uint32_t length = reach[set] + 1;", "for (uint32_t length = reach[set] + 2;")]),
    ("a key collision: other keys may be declared ones", "constraint/schema_parts.cpp", "ConstraintSchema.*:ConstraintMasks.*",
     [("const RegexId others = store_.complement(store_.literals(std::move(spelled)));", "const RegexId others = kAnyText;")]),
    ("equal keys count twice", "constraint/grammar.h", "ConstraintSchema.*", [("n_left + !others.empty() >= min", "n_left + (others.empty() ? 0 : min) >= min")]),
    ("equal keys count twice where branches are told apart", "constraint/schema_compiler.cpp", "ConstraintSchema.*", [("grammar_.find_productive(true);", "grammar_.find_productive();")]),
    ("other members are begun where they are too few", "constraint/instances.cpp", "ConstraintMasks.*", [("if (!object.is_enough(count, 0)) return;", "")]),
    ("a lost roll-back", "constraint/constraint.cpp", "ConstraintMasks.*", [("places_.resize(places_.size() - n);", "(void)n;")]),
    ("stale block: tokens are not compared", "prefix_cache.cpp", "PrefixCache.*", [(" && std::ranges::equal(tokens_of(block), tokens)) return block;", ") return block;")]),
    ("stale block: what it continues is not compared", "prefix_cache.cpp", "PrefixCache.*", [*NUMBER]),
    ("stale block: one that was filled again counts as the former", "prefix_cache.cpp", "PrefixCache.*", [("if (parent == kNone || entry(parent).number != numbers[i]) break;", "if (parent == kNone) break;")]),
    ("part of a block: one token too many is taken", "prefix_cache.cpp", "*EngineRequests.APrompt*/cpu", [("if (n_same > out.n) out = {place, n_same};", "if (n_same > out.n) out = {place, n_same + 1};")]),
    ("part of a block: it is written where others use it", "kv_pools.cpp", "*EngineRequests.APrompt*/cpu", [("const int32_t own = pools_[g].take();\n    holdings", "const int32_t own = source(g);\n    pools_[g].share(own);\n    holdings"),
      ("copy(static_cast<int32_t>(g), source(g), own)).ok();", "Status()).ok();"), ("if (!pool.shared(block)) continue;", "continue;")]),
    ("on the host: bytes of another block come back", "host_blocks.cpp", "*HostBlocksOfRequests.*/cpu",
     [("from = places_[static_cast<size_t>(slot)];", "from = places_[(static_cast<size_t>(slot) + 1) % places_.size()];")]),
    ("on the host: an entry that moves counts as another one", "prefix_cache.cpp", "HostBlocks.*",
     [("entry(to) = std::exchange(entry(from), {});", "entry(to) = std::exchange(entry(from), {});\n  entry(to).number = ++n_made_;")]),
    ("on the host: the oldest is what came last", "prefix_cache.cpp", "HostBlocks.*", [("const int32_t oldest = used_[1].oldest;", "const int32_t oldest = used_[1].newest;")]),
    ("stale block: a shared one is written", "kv_pools.cpp", "*EngineTest.*Fork*/cpu", [("if (!pool.shared(block)) continue;", "continue;")]),
    ("stale block: a window keeps what its finder gave up", "kv_pools.cpp", "WindowCache.*", [("windows_[g]->drop(block);", "(void)block;")]),
    ("wrong root key: blocks are found behind any others", "prefix_cache.cpp", "PrefixCache.*",
     [("return {entry(parent).hash, entry(parent).number, salt};", "return {kHashOfNothing, 0, salt};"), *NUMBER]),
    ("wrong root key: the salt is not in it", "prefix_cache.cpp", "PrefixCache.*:*EngineRequests.Salts*/cpu",
     [("root_ ^ (salt * 0x9fb21c651e98df25u)", "root_"), ("found.salt == before.salt && ", "")]),
    ("wrong root key: parts of blocks of another salt are copied", "prefix_cache.cpp", "PrefixCache.*",
     [("root_ ^ (salt * 0x9fb21c651e98df25u)", "root_"), (" || entry(place).salt != before.salt", "")]),
    ("a request waits for what another salt computes", "live_requests.cpp", "*EngineRequests.Salts*/cpu",
     [("return other.run.options.cache_salt == request.run.options.cache_salt;", "return true;")]),
    ("a window is found that lacks a block", "window_cache.cpp", "WindowCache.*",
     [("static_cast<int32_t>(n_blocks) * kKvBlockTokens) / kKvBlockTokens);", "static_cast<int32_t>(n_blocks) * kKvBlockTokens) / kKvBlockTokens + 1);")]),
    ("a block stays for others and leaves none in its place", "kv_pools.cpp", "WindowCache.*", [("has_windows() && pools_[g].shared(block) && h.n_blocks() <= h.n_held;", "false;")]),
    ("a shared step gives a call the events of another one", "engine.cpp", "*SharedSteps*/cpu", [("const std::span<StepEvent> own = events.subspan(n, n_own);", "const std::span<StepEvent> own = events.first(n_own);")]),
    ("a call with more to run joins a step", "engine.cpp", "*SharedSteps*/cpu", [("if (!std::ranges::all_of(room.first(n_own), is_ready)) return false;", "")]),
    ("a call is not told that the leader of its step failed", "shared_steps.cpp", "SharedSteps.*", [("if (!call->is_stepped_) call->status_ =", "if (false) call->status_ =")]),
    ("put out: the sampler's state is lost", "live_requests.cpp", "*EngineRequests.*/cpu",
     [("request.run.state = State::resting;", "request.run.state = State::resting;\n  request.run.session->sampler_state_ = {};")]),
    ("put out: the held-back text is lost", "live_requests.cpp", "*EngineRequests.*/cpu",
     [("request.run.state = State::resting;", "request.run.state = State::resting;\n  request.run.session->text_.clear();")]),
    ("ended: the held-back text is lost", "live_requests.cpp", "*EngineRequestParts.*/cpu", [(".is_cut = run.session->finish_reason_ == FinishReason::none};", ".is_cut = false};")]),
    ("a draw that found no memory stays in the sequence", "decoder.cpp", "*SessionMemory.*", [("      session.seq_.tokens.pop_back();", "")]),
    ("a step that found no memory for one session tells the others nothing", "decoder.cpp", "*SessionMemory.*", [("    event = without_memory();\n  }\n  return event.status;", "    throw;\n  }\n  return event.status;"),
      ("      event = without_memory();", "      throw;")]),
    ("a session is had before its request is checked", "live_requests.cpp", "*RequestMemory.*", [("  RequestOptions checked{.session = std::move(turn.options)};", "  RequestOptions checked{.session = turn.options};\n  sessions_.take(request, turn);")]),
    ("a schedule's clock is not the engine's", "live_requests.cpp", "*RequestSchedules.*/cpu", [("if (hooks_.now) return hooks_.now();", "")]),
    ("put out: blocks come back in others' places", "sequence_store.cpp", "*RequestSchedules.*/cpu",
     [("block_bytes_of(part.group) * static_cast<uint64_t>(n_skipped);", "block_bytes_of(part.group) * static_cast<uint64_t>(0 * n_skipped);")]),
    ("the host's budget does not bound what follows a part", "request_steps.cpp", "*HostsBudget.*", [("if (next > left_of_host(budget)) return true;", "if (next < 0) return true;")]),
    ("the host's budget does not bound how many units are launched", "request_steps.cpp", "*HostsBudget.*", [("launching > host_us", "launching > 1e9 * host_us")]),
    ("a draw does not know its position", "request_steps.cpp", "*EngineRequests.*/cpu", [(".position = static_cast<uint64_t>(seq.n_tokens()),", ".position = 0,")]),
    ("saved: the sampler's state is lost", "session_bytes.cpp", "*SavedSessions.*/cpu", [(".sampler_state = s.sampler_state_,", ".sampler_state = {},")]),
    ("saved: the held-back text is lost", "session_bytes.cpp", "*SavedSessions.*/cpu", [(".text = s.text_.held(),", ".text = {},")]),
    ("saved: rows have another order, there and back", "session_rows.cpp", "*SavedSessions.*/cpu",
     [("for (int32_t b = first / kKvBlockTokens; b < kv_blocks_for(end); ++b) {", "for (int32_t b = kv_blocks_for(end) - 1; b >= first / kKvBlockTokens; --b) {")]),
    ("saved: rows come back in another order", "session_rows.cpp", "*SavedSessions.*/cpu", [("kv_rows_to_block(backend_.kv_form(), part.rows, rows.data() + part.at, part.chunk);",
      "kv_rows_to_block(backend_.kv_form(), part.rows, rows.data() + (part.rows.end == kKvBlockTokens ? 0 : part.at), part.chunk);")]),
    ("a conversation that replaces a session's tokens keeps their blocks", "request_sessions.cpp", "*RequestSessions.*/cpu",
     [("sequences_.go_back(seq, std::min(run.n_kept, run.n_prompt - 1));", "")]),
    ("blocks of sessions that rest are counted and not given", "request_sessions.cpp", "*RequestSessions.*Rest*/cpu",
     [("if (longest == nullptr) return false;", "if (longest == nullptr || n_blocks() >= 0) return false;")]),
)]


def fail(message):
    sys.exit(f"planted_faults.py: {message}")


def path_of(fault, root):
    return os.path.join(root, "src", *(fault.file.split("/") if "/" in fault.file else ["engine", fault.file]))


def program_of(fault):
    return CONSTRAINT_PROGRAM if fault.file.startswith("constraint/") else PROGRAM


def with_fault(fault, root):
    """The file's text with the fault in it."""
    with open(path_of(fault, root), encoding="utf-8") as file:
        text = file.read()
    for old, new in fault.edits:
        if text.count(old) != 1:
            fail(f"'{fault.name}': its text is {text.count(old)} times in {os.path.relpath(path_of(fault, root), root)}, expected once: {old}")
        text = text.replace(old, new)
    return text


def write_if_other(path, data):
    """What stays as it is keeps its time, so that it is not compiled again."""
    if os.path.isfile(path):
        with open(path, "rb") as file:
            if file.read() == data:
                return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def copy_sources(target):
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], check=True, capture_output=True)
    names = {os.fsdecode(name) for name in listed.stdout.split(b"\0") if name}
    names = {name for name in names if os.path.isfile(os.path.join(ROOT, name))}
    for name in names:
        with open(os.path.join(ROOT, name), "rb") as file:
            write_if_other(os.path.join(target, name), file.read())
        shutil.copymode(os.path.join(ROOT, name), os.path.join(target, name))
    for folder, folders, files in os.walk(target):
        if folder == target and "build" in folders:
            folders.remove("build")
        for file in files:
            if os.path.relpath(os.path.join(folder, file), target) not in names:
                os.remove(os.path.join(folder, file))


def run(command, log, limit=None):
    """The exit status, or None where it did not come to an end; what it says is in `log`."""
    with open(log, "w", encoding="utf-8") as out:
        try:
            return subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, timeout=limit, check=False, env=ENVIRONMENT).returncode
        except subprocess.TimeoutExpired:
            return None


def must_run(command, log):
    if run(command, log) != 0:
        with open(log, encoding="utf-8", errors="replace") as file:
            sys.stderr.write("".join(file.readlines()[-40:]))
        fail(f"failed: {' '.join(command)}")


def tests_of(build, tests, log, program=PROGRAM):
    """What the tests come to, in words: "passed", or how a fault was found."""
    status = run([os.path.join(build, "bin", program), f"--gtest_filter={tests}", "--gtest_fail_fast"], log, LIMIT_S)
    with open(log, encoding="utf-8", errors="replace") as file:
        lines = file.read().splitlines()
    if not any(line.startswith("[ RUN") for line in lines):
        fail(f"no test matches {tests}")
    if status == 0:
        if not any(line.startswith("[       OK") for line in lines):
            fail(f"all tests of {tests} skip")
        return "passed"
    if status is None:
        return f"no end after {LIMIT_S} s"
    failed = [line.split()[3].rstrip(",") for line in lines if line.startswith("[  FAILED  ] ") and line.endswith(" ms)")]
    return f"by {failed[0]}" if failed else f"ended with status {status}"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--folder", default=os.path.join(ROOT, "build", "planted-faults"))
    options = parser.parse_args(arguments)
    for name in options.names:
        if name not in [fault.name for fault in FAULTS]:
            fail(f"there is no fault '{name}'")
    wanted = [fault for fault in FAULTS if not options.names or fault.name in options.names]
    for fault in wanted:
        with_fault(fault, ROOT)
        if options.list:
            print(f"{fault.file:24} {fault.name}")
    if options.list:
        return 0

    sources = ENVIRONMENT["CCACHE_BASEDIR"] = os.path.abspath(options.folder)
    copy_sources(sources)
    build = os.path.join(sources, "build", "cpu-only")
    log = os.path.join(build, "planted_faults.log")
    os.makedirs(build, exist_ok=True)
    configure = ["cmake", "--preset", "cpu-only", "-S", sources]
    if shutil.which("ccache"):
        configure += [f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX")]
    if "INLAY_MIMALLOC_ROOT" in os.environ:
        configure.append(f"-DINLAY_MIMALLOC_ROOT={os.environ['INLAY_MIMALLOC_ROOT']}")
    must_run(configure, log)
    compile_it = ["cmake", "--build", build, "--target"]
    must_run(compile_it + sorted({program_of(fault) for fault in wanted}), log)
    for program, tests in sorted({(program_of(fault), fault.tests) for fault in wanted}):
        found = tests_of(build, tests, log, program)
        if found != "passed":
            fail(f"the unchanged sources, {tests}: {found}; see {log}")
    print("the unchanged sources pass", flush=True)

    n_missed = 0
    for fault in wanted:
        start = time.monotonic()
        path, text = path_of(fault, sources), with_fault(fault, sources)
        with open(path, "rb") as file:
            right = file.read()
        write_if_other(path, text.encode())
        try:
            must_run([*compile_it, program_of(fault)], log)
            found = tests_of(build, fault.tests, log, program_of(fault))
        finally:
            write_if_other(path, right)
        n_missed += found == "passed"
        print(f"{'MISSED' if found == 'passed' else 'found':6} {fault.name} ({found}; {time.monotonic() - start:.0f} s)", flush=True)
    print(f"{len(wanted) - n_missed} found, {n_missed} missed")
    return 1 if n_missed else 0


ENVIRONMENT = dict(os.environ)
if __name__ == "__main__":
    sys.exit(main())
