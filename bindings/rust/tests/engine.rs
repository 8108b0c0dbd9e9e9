//! Loading, what an engine tells, and closures that the library calls.
mod common;

use common::*;
use inlay::{
    raw, ConvertOptions, ConvertType, DeviceKind, EmbedOptions, Engine, Library, LoadOptions, LogLevel, Pooling,
    ProfileForm, ProfileOptions, ScoreOptions, Status, Token, TokenScore, TokenizeOptions,
};
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

#[test]
fn every_source_of_a_model_is_the_same_model() {
    let want = greedy(&load(), 8);
    let bytes = std::fs::read(model()).unwrap();
    let from_memory = Engine::load_memory(&bytes, options()).unwrap();
    drop(bytes); // not needed after the load
    assert_eq!(greedy(&from_memory, 8), want);
    let mut file = File::open(model()).unwrap();
    assert_eq!(greedy(&Engine::load_reader(&mut file, options()).unwrap(), 8), want);
    assert_eq!(greedy(&Engine::load_reader(Cursor::new(std::fs::read(model()).unwrap()), options()).unwrap(), 8), want);
}

/// The model of the repository as a folder, with a normalizer that makes ten letters of one.
fn folder_with_normalizer(name: &str) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("inlay-rust-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for file in std::fs::read_dir(model().with_file_name("hf")).unwrap().map(|entry| entry.unwrap()) {
        std::fs::copy(file.path(), folder.join(file.file_name())).unwrap();
    }
    let tokenizer = std::fs::read_to_string(folder.join("tokenizer.json")).unwrap();
    let longer = r#""normalizer": {"type": "Replace", "pattern": {"String": "a"}, "content": "QQQQQQQQQQ"}"#;
    let changed = tokenizer.replace(r#""normalizer": null"#, longer);
    assert_ne!(changed, tokenizer);
    std::fs::write(folder.join("tokenizer.json"), changed).unwrap();
    folder
}

#[test]
fn a_text_may_have_more_tokens_than_bytes() {
    let folder = folder_with_normalizer("longer");
    let engine = Engine::load(&folder, options()).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let text = "a".repeat(100);
    let tokens = engine.tokenize(&text, TokenizeOptions::default()).unwrap();
    assert!(tokens.len() > text.len() + 2, "{}", tokens.len());
    assert_eq!(engine.detokenize(&tokens, false).unwrap(), "Q".repeat(1000));
}

#[test]
fn the_plan_is_what_a_load_takes() {
    let asked = || options().n_context(64).max_sessions(3);
    let plan = Engine::memory_plan(model(), &asked()).unwrap();
    let engine = load_with(asked());
    let info = engine.info().unwrap();
    assert_eq!((plan.n_context, plan.max_sessions, plan.device), (64, 3, device()));
    assert_eq!((plan.n_context, plan.max_sessions, plan.device), (info.n_context, info.max_sessions, info.device));
    assert_eq!((plan.weight_bytes, plan.kv_bytes), (info.weight_bytes, info.kv_bytes));
    assert_eq!(plan.total_bytes, plan.weight_bytes + plan.kv_bytes + plan.scratch_bytes);
}

#[test]
fn a_model_is_converted_and_told_about() {
    let target = std::env::temp_dir().join(format!("inlay-rust-{}.gguf", std::process::id()));
    let mut told = (0, 0);
    Engine::convert(
        model(),
        &target,
        ConvertType::Q80,
        Some(Box::new(|done, total| {
            told = (done, total);
            ControlFlow::Continue(())
        })),
    )
    .unwrap();
    assert!(told.0 > 0 && told.0 == told.1);
    let (small, whole) = (std::fs::metadata(&target).unwrap().len(), std::fs::metadata(model()).unwrap().len());
    assert!(small < whole);
    assert!(!greedy(&Engine::load(&target, options()).unwrap(), 4).is_empty());
    let stop = Engine::convert(model(), &target, ConvertType::F16, Some(Box::new(|_, _| ControlFlow::Break(()))));
    assert_eq!(stop.unwrap_err().status(), Status::Cancelled);
    assert_eq!(std::fs::metadata(&target).unwrap().len(), small, "a stopped conversion leaves the file that was there");
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        Engine::convert(model(), &target, ConvertType::F16, Some(Box::new(|_, _| panic!("in progress"))))
    }));
    assert!(panicked.is_err());
    std::fs::remove_file(&target).unwrap();
}

#[test]
fn a_conversion_has_a_log() {
    let folder = folder_with_normalizer("converted");
    let target = folder.join("made.gguf");
    let messages = |source: &std::path::Path| {
        let found = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&found);
        let log: inlay::LogSink = Box::new(move |level, text| sink.lock().unwrap().push((level, text.to_owned())));
        let convert_type = ConvertType::Q80;
        Engine::convert_with(source, &target, ConvertOptions::default().convert_type(convert_type).log(log)).unwrap();
        assert_eq!(Arc::strong_count(&found), 1, "the sink is dropped with the conversion");
        let found = found.lock().unwrap().clone();
        found
    };
    let said = messages(&folder);
    assert!(said.len() == 1 && said[0].0 == LogLevel::Warning && said[0].1.contains("normalizer Replace"), "{said:?}");
    assert!(messages(&model()).is_empty());
    let many = ConvertOptions::default().n_threads(u32::MAX);
    let error = Engine::convert_with(model(), &target, many).unwrap_err();
    assert!(error.status() == Status::InvalidArgument && error.message().contains("n_threads"), "{error}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_splitter_is_named() {
    let tokens = |name| {
        let engine = load_with(options().pre_tokenizer(name));
        engine.tokenize("The end.\n\nThen", TokenizeOptions::default()).unwrap()
    };
    assert_ne!(tokens(Some("gpt-2")), tokens(None));
    let error = Engine::load(model(), options().pre_tokenizer("gpt-99")).unwrap_err();
    assert_eq!(error.status(), Status::InvalidArgument);
    assert!(error.message().contains("'gpt-99'"), "{error}");
}

#[test]
fn tuning_is_a_text() {
    let logged = Arc::new(Mutex::new(String::new()));
    let lines = Arc::clone(&logged);
    let note = move |_: LogLevel, line: &str| lines.lock().unwrap().push_str(line);
    let tuned = || options().device(DeviceKind::Cpu);
    Engine::load(model(), tuned().tuning("cublas=0, isa=generic").log(note)).unwrap();
    assert!(logged.lock().unwrap().contains("tuning: cublas changes nothing"), "{logged:?}");
    for (text, said) in [("speed=9", "'speed'"), ("isa=fast", "generic, avx2 or avx512"), ("isa", "key=value")] {
        let error = Engine::load(model(), tuned().tuning(text)).unwrap_err();
        assert!(error.status() == Status::InvalidArgument && error.message().contains(said), "{error}");
    }
}

#[test]
fn an_engine_tells_what_it_is() {
    let engine = load();
    let info = engine.info().unwrap();
    assert!(info.n_params > 0 && info.n_layers > 0 && info.has_tokenizer);
    assert_eq!(info.d_model, info.n_heads * info.d_head);
    let meta = engine.meta().unwrap();
    assert_eq!(meta.len(), engine.meta_count().unwrap());
    let architecture = engine.meta_value("general.architecture").unwrap();
    assert!(meta.contains(&("general.architecture".to_owned(), architecture)));
    assert!(engine.plan_text().unwrap().lines().count() > info.n_layers as usize);
    greedy(&engine, 5);
    let stats = engine.stats().unwrap();
    assert_eq!((stats.n_sessions, stats.n_decode_steps, stats.n_decode_tokens, stats.n_kv_blocks_used), (0, 5, 5, 0));
    assert!(stats.decode_time.as_nanos() > 0 && stats.load_time.as_nanos() > 0);
}

#[test]
fn tokens_and_text_are_two_forms_of_one() {
    let engine = load();
    let plain = TokenizeOptions::default().no_bos_eos(true);
    for text in ["", "Once upon a time", "Die Königin aß Süßes", "Привет, 世界 🦊"] {
        let tokens = engine.tokenize(text, plain).unwrap();
        assert_eq!(engine.detokenize(&tokens, false).unwrap(), text);
        let pieces: Vec<u8> = tokens.iter().flat_map(|&token| engine.token_info(token).unwrap().piece).collect();
        assert_eq!(pieces, text.as_bytes());
    }
    let long = "a fox and a bear ".repeat(500); // longer than the first buffer for it
    assert_eq!(engine.detokenize(&engine.tokenize(&long, plain).unwrap(), false).unwrap(), long);
    let fox = engine.tokenize("🦊", plain).unwrap();
    let part = &fox[..fox.len() - 1];
    assert_eq!(engine.detokenize_bytes(part, false).unwrap(), &"🦊".as_bytes()[..part.len()]);
    assert!(engine.detokenize(part, false).unwrap().contains('\u{fffd}'));
    let eos = engine.info().unwrap().eos.expect("the model has an end");
    assert!(engine.token_info(eos).unwrap().ends_generation);
    assert_eq!(engine.detokenize(&[eos], false).unwrap(), "");
    assert_ne!(engine.detokenize(&[eos], true).unwrap(), "");
}

#[test]
fn the_library_tells_what_it_is() {
    let library = Library::get().unwrap();
    assert_eq!(library.abi_version(), (raw::INLAY_ABI_MAJOR, raw::INLAY_ABI_MINOR));
    assert_eq!(library.version().split('.').count(), 3);
    assert_eq!(library.status_name(Status::KvFull), "KV_FULL");
    assert_eq!(library.status_name(Status::Other(12345)), "UNKNOWN");
    let devices = library.devices().unwrap();
    assert_eq!(devices[0].kind, inlay::DeviceKind::Cpu);
    assert!(devices[0].total_bytes > 0 && devices[0].n_units > 0 && !devices[0].name.is_empty());
    assert_eq!(library, Library::get().unwrap());
}

#[test]
fn what_is_told_has_a_line_for_people() {
    let engine = load();
    let (info, device) = (engine.info().unwrap(), &Library::get().unwrap().devices().unwrap()[0]);
    let says = |shown: String, part: &str| assert!(shown.contains(part) && !shown.contains('\n'), "{shown:?}: {part}");
    says(info.to_string(), &format!("{} parameters in {} layers", info.n_params, info.n_layers));
    says(device.to_string(), &format!("CPU 0: {}", device.name));
    let plan = Engine::memory_plan(model(), &options()).unwrap();
    says(plan.to_string(), &format!("{:.1} MiB on ", plan.total_bytes as f64 / 1048576.0));
    says(engine.token_info(info.eos.unwrap()).unwrap().to_string(), "control, ends a generation");
    let mut session = endless(&engine);
    session.set_max_tokens(2).unwrap();
    let sampler = inlay::Sampler::default().n_logprobs(1);
    let events: Vec<_> = session
        .generate(PROMPT, &inlay::GenerateOptions::default().sampler(sampler))
        .unwrap()
        .map(|event| event.unwrap())
        .collect();
    let shown: String = events.iter().map(|event| event.to_string()).collect();
    assert_eq!(shown, engine.detokenize(&[events[0].token.unwrap(), events[1].token.unwrap()], false).unwrap());
    says(events[0].top[0].to_string(), &format!("{}: ", events[0].top[0].token));
    says(session.info().unwrap().to_string(), "2 drawn");
    says(session.info().unwrap().to_string(), "ended: max tokens");
    says(engine.stats().unwrap().to_string(), "1 sessions; ");
    let message = &engine.logs(0).unwrap()[0];
    says(message.to_string(), &format!("info: {}", message.text));
    assert_eq!(inlay::FinishReason::EndOfGeneration.to_string(), "end of generation");
    assert_eq!(Status::from_raw(77).to_string(), "other 77");
    assert_eq!(format!("[{:>9}]", Status::KvFull), "[  kv full]");
}

#[test]
fn options_are_shown_whole() {
    let shown = format!("{:?}", LoadOptions::default().weight_dtype(inlay::WeightDtype::Fp8).n_threads(3));
    assert!(shown.contains("weight_dtype: Fp8") && shown.contains("n_threads: 3"), "{shown}");
    let shown = format!("{:?}", ConvertOptions::default().n_threads(5));
    assert!(shown.contains("n_threads: 5"), "{shown}");
}

#[test]
fn models_are_explained() {
    let found = Engine::explain(model(), &LoadOptions::default()).unwrap();
    assert!(found.n_devices >= 2 && found.text.contains("would run on"), "{}", found.text);
    let facts = Engine::explain_json(model(), &LoadOptions::default()).unwrap();
    assert_eq!(facts.n_devices, found.n_devices);
    assert!(facts.text.starts_with('{') && facts.text.contains("\"family\": \""), "{}", facts.text);
    let missing = Engine::explain("no/such/model.gguf", &LoadOptions::default());
    assert_eq!(missing.unwrap_err().status(), Status::NotFound);
}

#[test]
fn texts_become_vectors() {
    let engine = load();
    let tokens = engine.tokenize(PROMPT, TokenizeOptions::default()).unwrap();
    let options = EmbedOptions::default().pooling(Pooling::Mean).normalize(true);
    let vectors = engine.embed([&tokens[..], &tokens[..1], &tokens[..]], options).unwrap();
    assert_eq!(vectors.len(), 3);
    let product = |a: usize, b: usize| vectors[a].iter().zip(&vectors[b]).map(|(x, y)| x * y).sum::<f32>();
    assert_eq!(vectors[0].len(), engine.info().unwrap().d_model as usize);
    assert!((product(0, 0) - 1.0).abs() < 1e-4 && (product(0, 2) - 1.0).abs() < 1e-4);
    assert!(product(0, 1) < 0.99);
    let of_texts = engine.embed([PROMPT], options).unwrap();
    assert!(of_texts[0].iter().zip(&vectors[0]).all(|(a, b)| (a - b).abs() < 1e-3), "a text is its tokens");
    let raw = engine.embed([&tokens], options.normalize(false)).unwrap();
    assert!((raw[0].iter().map(|x| x * x).sum::<f32>() - 1.0).abs() > 0.01);
    assert!(engine.embed([""; 0], options).unwrap().is_empty());
    assert_eq!(engine.embed([&[] as &[Token]], options).unwrap_err().status(), Status::InvalidArgument);
    assert_eq!(engine.embed([&tokens], EmbedOptions::default()).unwrap_err().status(), Status::Unsupported);
}

#[test]
fn an_embedding_tells_and_is_cancelled() {
    let engine = load_with(options().max_sessions(2));
    let texts: [&[Token]; 5] = [&[5], &[6, 7], &[8], &[9], &[5]];
    let embed_options = EmbedOptions::default().pooling(Pooling::Mean);
    let want = engine.embed(texts, embed_options).unwrap();
    let mut told = Vec::new();
    let vectors = engine.embed_with(texts, embed_options, |n_done, n_all| {
        told.push((n_done, n_all));
        ControlFlow::Continue(())
    });
    assert_eq!(told, [(3, 6), (5, 6), (6, 6)], "two texts a step");
    assert_eq!(vectors.unwrap(), want);

    let mut n_told = 0;
    let cancelled = engine.embed_with(texts, embed_options, |_, _| {
        n_told += 1;
        if n_told == 2 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    assert_eq!((cancelled.unwrap_err().status(), n_told), (Status::Cancelled, 2));
    assert_eq!(engine.stats().unwrap().n_sessions, 0);
    let panicked =
        catch_unwind(AssertUnwindSafe(|| engine.embed_with(texts, embed_options, |_, _| panic!("in progress"))));
    assert_eq!(*panicked.unwrap_err().downcast::<&str>().unwrap(), "in progress");

    let wrong: [&[Token]; 4] = [&[5], &[6], &[7], &[]];
    let error = engine.embed(wrong, embed_options).unwrap_err();
    assert!(error.message().starts_with("text 3 has no tokens"), "{error}");
}

fn text_of(engine: &Engine, text: &str) -> Vec<Token> {
    engine.tokenize(text, TokenizeOptions::default()).unwrap()
}

/// The natural logarithms of the probabilities of all tokens behind these ones.
fn distribution(engine: &Engine, tokens: &[Token]) -> Vec<f64> {
    let mut session = endless(engine);
    session.prefill(tokens).unwrap();
    let logits = session.logits().unwrap();
    let max = f64::from(logits.iter().copied().fold(f32::NEG_INFINITY, f32::max));
    let log_sum = max + logits.iter().map(|&l| (f64::from(l) - max).exp()).sum::<f64>().ln();
    logits.iter().map(|&l| f64::from(l) - log_sum).collect()
}

fn near(a: f32, b: f64) -> bool {
    (f64::from(a) - b).abs() < 2e-3
}

fn assert_alike(a: &[TokenScore], b: &[TokenScore]) {
    assert_eq!(a.len(), b.len());
    for (x, y) in a.iter().zip(b) {
        assert_eq!(x.logprob.is_some(), y.logprob.is_some());
        assert!(near(x.logprob.unwrap_or(0.0), y.logprob.unwrap_or(0.0).into()), "{x} and {y}");
    }
}

#[test]
fn scores_are_what_the_logits_say() {
    let engine = load();
    let text = text_of(&engine, "Once upon a time the zebra sang of bricks.");
    let scores = engine.score(&[&text], ScoreOptions::default().n_logprobs(3)).unwrap().remove(0);
    assert_eq!(scores.len(), text.len());
    let first = &scores[0];
    assert_eq!((first.logprob, first.rank, first.against, first.top.len()), (None, None, None, 0));
    assert!(scores[1..].iter().any(|score| score.rank.unwrap() > 0), "the text is what a greedy draw gives");
    for (i, score) in scores.iter().enumerate().skip(1) {
        let all = distribution(&engine, &text[..i]);
        let own = all[text[i] as usize];
        assert!(near(score.logprob.unwrap(), own), "token {i}: {score}, expected {own}");
        let likelier = |least: f64| all.iter().filter(|&&l| l > least).count() as u32;
        let rank = score.rank.unwrap();
        assert!((likelier(own + 4e-3)..=likelier(own - 4e-3)).contains(&rank), "token {i}: {score}");
        assert_eq!(score.top.len(), 3);
        for (place, top) in score.top.iter().enumerate() {
            assert!(near(top.logprob, all[top.token as usize]), "token {i}: {top}");
            assert!(place as u32 != rank || (top.token == text[i] && Some(top.logprob) == score.logprob), "token {i}");
        }
        assert!(score.top.windows(2).all(|pair| pair[0].logprob >= pair[1].logprob));
        assert!(near(score.top[0].logprob, all.iter().copied().fold(f64::NEG_INFINITY, f64::max)));
        assert!(score.against.is_none());
    }
}

#[test]
fn drawn_tokens_have_the_scores_of_their_events() {
    let engine = load();
    let mut text = text_of(&engine, PROMPT);
    let n_prompt = text.len() as u32;
    let events: Vec<_> = begun(&engine).events().take(12).map(|event| event.unwrap()).collect();
    text.extend(events.iter().map(|event| event.token.unwrap()));
    let given = ScoreOptions::default().n_given(n_prompt).n_logprobs(1);
    let scores = engine.score(&[&text], given).unwrap().remove(0);
    assert!(scores[..n_prompt as usize].iter().all(|score| score.logprob.is_none() && score.top.is_empty()));
    for (score, event) in scores[n_prompt as usize..].iter().zip(&events) {
        assert!(near(score.logprob.unwrap(), event.logprob.into()), "{score}, {}", event.logprob);
        assert!(near(score.top[0].logprob, event.logprob.into()), "{}, {}", score.top[0], event.logprob);
        assert_eq!(score.rank == Some(0), Some(score.top[0].token) == event.token);
    }
    let nothing = engine.score(&[&text], ScoreOptions::default().n_given(u32::MAX)).unwrap().remove(0);
    assert!(nothing.len() == text.len() && nothing.iter().all(|score| score.rank.is_none()));
}

#[test]
fn texts_are_scored_together_as_alone() {
    let engine = load_with(options().max_sessions(2));
    let (a, b) = (text_of(&engine, "The old fox said"), text_of(&engine, "A queen lived in a castle by the sea."));
    let texts: [&[Token]; 5] = [&a, &b, &a[..1], &b, &a];
    let mut told = Vec::new();
    let note = |done, all| {
        told.push((done, all));
        ControlFlow::Continue(())
    };
    let together = engine.score(&texts, ScoreOptions::default().progress(note)).unwrap();
    assert_eq!(together.len(), texts.len());
    for (text, scores) in texts.iter().zip(&together) {
        assert_alike(scores, &engine.score(&[text], ScoreOptions::default()).unwrap()[0]);
    }
    let n_all: usize = texts.iter().map(|text| text.len() - 1).sum(); // nothing runs behind a text's last token
    assert!(told.len() > 1 && told.windows(2).all(|pair| pair[0].0 < pair[1].0), "{told:?}");
    assert_eq!(*told.last().unwrap(), (n_all as u64, n_all as u64));
    assert!(engine.score(&[], ScoreOptions::default()).unwrap().is_empty());
    let error = engine.score(&[&a, &[]], ScoreOptions::default()).unwrap_err();
    assert!(error.status() == Status::InvalidArgument && error.message().contains("lengths[1]"), "{error}");
}

#[test]
fn two_engines_are_compared() {
    let engine = load_with(options().max_sessions(1)); // that against itself takes no second one
    let text = text_of(&engine, "Once upon a time the zebra sang of bricks.");
    let same = engine.score(&[&text, &text], ScoreOptions::default().against(&engine.clone())).unwrap().concat();
    assert_eq!(same.len(), 2 * text.len());
    for score in same.iter().filter(|score| score.rank.is_some()) {
        let other = score.against.unwrap();
        assert_eq!((Some(other.logprob), Some(other.rank)), (score.logprob, score.rank));
        assert_eq!((other.divergence, other.same_best), (0.0, true));
    }
    assert_eq!(same.iter().filter(|score| score.against.is_none()).count(), 2);

    let target = std::env::temp_dir().join(format!("inlay-rust-coarse-{}.gguf", std::process::id()));
    Engine::convert(model(), &target, ConvertType::Q40, None).unwrap();
    let coarse = Engine::load(&target, options()).unwrap();
    std::fs::remove_file(&target).unwrap();
    let scores = coarse.score(&[&text], ScoreOptions::default().against(&engine)).unwrap().remove(0);
    for (i, score) in scores.iter().enumerate().skip(1) {
        let (p, q) = (distribution(&engine, &text[..i]), distribution(&coarse, &text[..i]));
        let other = score.against.unwrap();
        assert!(
            near(other.logprob, p[text[i] as usize]) && near(score.logprob.unwrap(), q[text[i] as usize]),
            "{score}"
        );
        let divergence: f64 = p.iter().zip(&q).map(|(p, q)| p.exp() * (p - q)).sum();
        assert!(other.divergence > 0.0 && near(other.divergence, divergence), "{score}, expected {divergence}");
        let best = |all: &[f64]| (0..all.len()).max_by(|&a, &b| all[a].total_cmp(&all[b]));
        assert!(other.same_best == (best(&p) == best(&q)), "token {i}: {score}");
    }
    assert!(scores[1].to_string().contains("; against "), "{}", scores[1]);
}

#[test]
fn a_scoring_is_cancelled_and_refused() {
    let engine = load_with(options().max_sessions(1));
    let text = text_of(&engine, PROMPT);
    let mut n_told = 0;
    let stop = |_, _| {
        n_told += 1;
        if n_told == 2 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let error = engine.score(&[&text, &text, &text], ScoreOptions::default().progress(stop)).unwrap_err();
    assert_eq!((error.status(), n_told), (Status::Cancelled, 2));
    let asked = ScoreOptions::default().progress(|_, _| panic!("no scores"));
    let panicked = catch_unwind(AssertUnwindSafe(|| engine.score(&[&text], asked))).unwrap_err();
    assert_eq!(panicked.downcast_ref::<&str>(), Some(&"no scores"));
    assert_eq!(engine.stats().unwrap().n_sessions, 0);
    for n in [21, u32::MAX] {
        let error = engine.score(&[&text], ScoreOptions::default().n_logprobs(n)).unwrap_err();
        assert!(error.status() == Status::InvalidArgument && error.message().contains("n_logprobs is "), "{error}");
    }
    assert_eq!(engine.score(&[&text], ScoreOptions::default()).unwrap()[0].len(), text.len());
    let shown = format!("{:?}", ScoreOptions::default().n_given(7).against(&engine));
    assert!(shown.contains("n_given: 7") && shown.contains("against: Some(Engine("), "{shown}");
}

#[test]
fn profiles_and_comparisons() {
    let engine = load();
    engine.profile_step(ProfileOptions::default().n_repetitions(2)).unwrap();
    assert!(engine.profile_text(ProfileForm::Kinds).unwrap().lines().count() > 3);
    let timeline = engine.profile_text(ProfileForm::Timeline).unwrap();
    assert!(timeline.len() > engine.profile_text(ProfileForm::Kinds).unwrap().len());
    assert!(engine.profile_text(ProfileForm::Trace).unwrap().contains("traceEvents"));
    let tokens = engine.tokenize(PROMPT, TokenizeOptions::default()).unwrap();
    let same = engine.compare(&engine.clone(), &tokens, 1e-9).unwrap();
    assert_eq!(same.first, None, "{}", same.table);
    assert!(same.table.lines().count() > 3);
    let reference = load_with(LoadOptions::default().device(inlay::DeviceKind::Reference));
    if device() != inlay::DeviceKind::Reference {
        assert!(engine.compare(&reference, &tokens, 0.0).unwrap().first.is_some());
    }
}

#[test]
fn a_log_sink_gets_what_the_ring_holds_and_is_dropped_last() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = {
        let seen = Arc::clone(&seen);
        Box::new(move |level: LogLevel, text: &str| seen.lock().unwrap().push((level, text.to_owned())))
    };
    let engine = load_with(options().log(sink).log_level(LogLevel::Debug));
    let ring = engine.logs(0).unwrap();
    assert!(!ring.is_empty());
    let kept: Vec<_> = ring.iter().map(|message| (message.level, message.text.clone())).collect();
    assert_eq!(*seen.lock().unwrap(), kept);
    assert_eq!(
        ring.iter().map(|message| message.number).collect::<Vec<_>>(),
        (1..=ring.len() as u64).collect::<Vec<_>>()
    );
    assert_eq!(engine.logs(1).unwrap(), ring[1..]);
    let session = begun(&engine);
    drop(engine);
    assert_eq!(Arc::strong_count(&seen), 2, "a session keeps engine and sink");
    drop(session);
    assert_eq!(Arc::strong_count(&seen), 1);
}

#[test]
fn a_failed_load_drops_its_closures() {
    let owned = Arc::new(());
    let (for_log, for_progress) = (Arc::clone(&owned), Arc::clone(&owned));
    let asked = options().log(move |_, _| drop(Arc::clone(&for_log))).progress(move |_, _| {
        drop(Arc::clone(&for_progress));
        ControlFlow::Continue(())
    });
    assert!(Engine::load_memory(b"not a model", asked).is_err());
    assert_eq!(Arc::strong_count(&owned), 1);
}

#[test]
fn progress_borrows_and_reaches_the_end() {
    let (mut last, mut n_calls) = ((0, 1), 0);
    let note = |done, total| {
        assert!(done >= last.0);
        (last, n_calls) = ((done, total), n_calls + 1);
        ControlFlow::Continue(())
    };
    load_with(options().progress(note));
    assert!(n_calls > 0);
    assert_eq!(last.0, last.1);
}

struct PanicsAtTheEnd(Cursor<Vec<u8>>);

impl Read for PanicsAtTheEnd {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        assert!(self.0.position() < 100_000, "no more of this");
        self.0.read(into)
    }
}

impl Seek for PanicsAtTheEnd {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

fn panic_message(result: std::thread::Result<inlay::Result<Engine>>) -> String {
    let panic = result.expect_err("a panic");
    panic
        .downcast_ref::<&str>()
        .map_or_else(|| panic.downcast_ref::<String>().unwrap().clone(), |text| text.to_string())
}

#[test]
fn panics_go_around_the_library() {
    let asked = options().progress(|_, _| panic!("no progress"));
    let loaded = catch_unwind(AssertUnwindSafe(|| Engine::load(model(), asked)));
    assert_eq!(panic_message(loaded), "no progress");
    let reader = PanicsAtTheEnd(Cursor::new(std::fs::read(model()).unwrap()));
    let loaded = catch_unwind(AssertUnwindSafe(|| Engine::load_reader(reader, options())));
    assert_eq!(panic_message(loaded), "no more of this");
    let n_calls = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&n_calls);
    let sink = Box::new(move |_: LogLevel, _: &str| {
        counter.fetch_add(1, Ordering::Relaxed);
        panic!("no log");
    });
    let engine = load_with(options().log(sink));
    assert!(n_calls.load(Ordering::Relaxed) > 0);
    assert_eq!(greedy(&engine, 3).len(), 3);
}
