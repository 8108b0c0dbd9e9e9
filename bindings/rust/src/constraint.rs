//! What a session or a request may write, compiled for an engine's vocabulary.
use crate::callbacks::{free, Handle};
use crate::engine::TEXT_BYTES;
use crate::error::{call, read_string};
use crate::options::setters;
use crate::session::{check_library, raw_text};
use crate::{raw, ConstraintKind, Engine, Library, Result, Session, Token};
use std::sync::Arc;

setters! {
    impl['a] ConstraintSource<'a> {
        compact: bool,
        escapes: bool,
        lenient: bool,
        prompt: impl Into<Vec<Token>>,
        format: impl Into<Option<&'a str>>,
        chat_template: impl Into<Option<&'a str>>,
    }
}

/// Which texts may be written, compiled for an engine's vocabulary. Made by [`Engine::constraint`].
///
/// A clone is another reference to the same constraint, which any number of sessions, requests and threads use at a time. It keeps
/// no engine alive; what has it keeps what it needs of it. Two are equal if they are the same one.
#[derive(Clone)]
pub struct Constraint {
    shared: Arc<Shared>,
}

struct Shared {
    library: Library,
    constraint: *mut raw::inlay_constraint,
}

// SAFETY: all functions that take a const constraint may be called from any thread at any time; the last owner alone frees it.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Drop for Shared {
    fn drop(&mut self) {
        let (constraint, functions) = (Handle(self.constraint), self.library.functions());
        // SAFETY: the constraint is ours, and nobody is in a call with it.
        free(move || unsafe { (functions.inlay_constraint_free)(constraint.get()) });
    }
}

impl Constraint {
    /// What it takes, as of now.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// let constraint = engine.constraint(&ConstraintSource::any_json())?;
    /// println!("{} bytes", constraint.info()?.memory_bytes);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::InvalidState`](crate::Status::InvalidState).
    pub fn info(&self) -> Result<ConstraintInfo> {
        let mut info = raw::inlay_constraint_info::default();
        // SAFETY: the struct is ours and says its size.
        call(|err| unsafe { (self.functions().inlay_constraint_get_info)(self.as_ptr(), &mut info, err) })?;
        Ok(ConstraintInfo { n_remarks: u32::try_from(info.n_remarks).unwrap_or(0), memory_bytes: info.memory_bytes })
    }

    /// What compiling a schema left to say, with its place: a format that is not known and demands nothing, or what
    /// [`lenient`](ConstraintSource::lenient) dropped.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// let schema = ConstraintSource::json_schema(r#"{"type": "array", "contains": {}, "unevaluatedItems": false}"#);
    /// let error = engine.constraint(&schema).unwrap_err();
    /// assert!(error.message().contains("unevaluatedItems"));
    /// for remark in engine.constraint(&schema.lenient(true))?.remarks()? {
    ///     println!("{remark}");
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::InvalidState`](crate::Status::InvalidState).
    pub fn remarks(&self) -> Result<Vec<String>> {
        let read = self.functions().inlay_constraint_get_remark;
        let remark = |index| {
            read_string(TEXT_BYTES, |buf, cap, needed, err| {
                // SAFETY: the buffer has room for `cap` bytes.
                unsafe { read(self.as_ptr(), index, buf.cast(), cap, needed, err) }
            })
        };
        (0..self.info()?.n_remarks as usize).map(remark).collect()
    }

    /// The handle of the C API, for what this crate does not wrap. It is this object's: it must not be freed.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// let constraint = engine.constraint(&ConstraintSource::any_json())?;
    /// let mut info = raw::inlay_constraint_info::default();
    /// let read = engine.library().functions().inlay_constraint_get_info;
    /// // SAFETY: the constraint lives, and the struct says its size.
    /// assert_eq!(unsafe { read(constraint.as_ptr(), &mut info, std::ptr::null_mut()) }, raw::INLAY_OK);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn as_ptr(&self) -> *const raw::inlay_constraint {
        self.shared.constraint
    }

    /// The handle for a call of this library, null where there is no constraint.
    pub(crate) fn of(constraint: Option<&Self>, library: Library) -> Result<*const raw::inlay_constraint> {
        let Some(constraint) = constraint else { return Ok(std::ptr::null()) };
        check_library(constraint.shared.library, library)?;
        Ok(constraint.as_ptr())
    }

    fn functions(&self) -> &'static raw::Functions {
        self.shared.library.functions()
    }
}

impl PartialEq for Constraint {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl Eq for Constraint {}

impl std::fmt::Debug for Constraint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Constraint({:p})", self.shared.constraint)
    }
}

/// What a [`Constraint`] takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConstraintInfo {
    /// Number of its [remarks](Constraint::remarks).
    pub n_remarks: u32,
    /// Bytes of host memory, without those of the vocabulary, which all constraints of an engine share. It grows while the constraint
    /// is used, within a bound of some tens of megabytes.
    pub memory_bytes: u64,
}

/// What a [`Constraint`] is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConstraintSource<'a> {
    /// What the text is. Default: a JSON schema.
    pub kind: ConstraintKind,
    /// The schema, grammar, expression, or JSON of a message. The other kinds have none.
    pub text: Option<&'a str>,
    /// The texts of [`Choices`](ConstraintKind::Choices), at most 65536. The other kinds have none.
    pub choices: Vec<String>,
    /// JSON without whitespace between values. Else there is none, one space, or a line end and up to 19 spaces or tabs.
    pub compact: bool,
    /// Strings that are values of JSON may have any escape, such as `\u00e9`. Else they have short ones, where JSON needs them.
    pub escapes: bool,
    /// Keywords of a schema that are not supported are dropped and [remarked](Constraint::remarks), not refused.
    pub lenient: bool,
    /// Of a [`Message`](ConstraintKind::Message): the prompt, or its last tokens, which say whether reasoning is open. The other
    /// kinds have none.
    pub prompt: Vec<Token>,
    /// Of a [`Message`](ConstraintKind::Message): how reasoning and calls are written, as in
    /// [`MessageOptions`](crate::MessageOptions). Default: as the chat template writes them. The other kinds have none.
    pub format: Option<&'a str>,
    /// Of a [`Message`](ConstraintKind::Message): the chat template that wrote the prompt. Default: the model's own. The other
    /// kinds have none.
    pub chat_template: Option<&'a str>,
}

impl<'a> ConstraintSource<'a> {
    fn of(kind: ConstraintKind, text: Option<&'a str>) -> Self {
        Self { kind, text, ..Self::default() }
    }

    /// JSON by a schema: Draft 2020-12, and what draft-04 to draft-07 spell otherwise.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// let schema = r#"{"type": "object", "properties": {"age": {"type": "integer", "minimum": 0}}, "required": ["age"]}"#;
    /// let constraint = engine.constraint(&ConstraintSource::json_schema(schema).compact(true))?;
    /// # Ok::<(), Error>(())
    /// ```
    pub fn json_schema(schema: &'a str) -> Self {
        Self::of(ConstraintKind::JsonSchema, Some(schema))
    }

    /// Any JSON value.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// let constraint = engine.constraint(&ConstraintSource::any_json())?;
    /// # Ok::<(), Error>(())
    /// ```
    pub fn any_json() -> Self {
        Self::of(ConstraintKind::AnyJson, None)
    }

    /// A grammar as llama.cpp writes them; its rule is `root`.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// let constraint = engine.constraint(&ConstraintSource::gbnf(r#"root ::= "room " [1-9] [0-9]?"#))?;
    /// # Ok::<(), Error>(())
    /// ```
    pub fn gbnf(grammar: &'a str) -> Self {
        Self::of(ConstraintKind::Gbnf, Some(grammar))
    }

    /// A regular expression that the whole text matches, as ECMA-262 has them, without look-around and references.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// let date = engine.constraint(&ConstraintSource::regex("20[0-9]{2}-[01][0-9]"))?;
    /// # Ok::<(), Error>(())
    /// ```
    pub fn regex(expression: &'a str) -> Self {
        Self::of(ConstraintKind::Regex, Some(expression))
    }

    /// One of some texts.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// let constraint = engine.constraint(&ConstraintSource::choices(["yes", "no"]))?;
    /// # Ok::<(), Error>(())
    /// ```
    pub fn choices(texts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let choices = texts.into_iter().map(Into::into).collect();
        Self { choices, ..Self::of(ConstraintKind::Choices, None) }
    }

    /// A message with calls of tools as the model's format writes them, or with content by a schema; reasoning before is free, or
    /// closed behind N tokens by `"reasoning": {"max_tokens": N}`. The demand is JSON: that, and `tools`, `tool_choice`,
    /// `parallel_tool_calls` and `response_format`, all as OpenAI's protocol has them. The [`prompt`](Self::prompt) belongs to it.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// let demand = r#"{"response_format": {"type": "json_object"}}"#;
    /// let prompt = engine.tokenize("The innkeeper is", TokenizeOptions::default())?;
    /// let constraint = engine.constraint(&ConstraintSource::message(demand).prompt(prompt))?;
    /// # Ok::<(), Error>(())
    /// ```
    pub fn message(demand: &'a str) -> Self {
        Self::of(ConstraintKind::Message, Some(demand))
    }

    /// Makes a call with the source as the C API wants it.
    fn with_raw<T>(&self, function: impl FnOnce(&raw::inlay_constraint_params) -> T) -> T {
        let choices: Vec<_> = self.choices.iter().map(|text| raw_text(text)).collect();
        function(&raw::inlay_constraint_params {
            kind: self.kind.to_raw(),
            flags: (if self.compact { raw::INLAY_CONSTRAINT_FLAG_COMPACT } else { 0 })
                | if self.escapes { raw::INLAY_CONSTRAINT_FLAG_ESCAPES } else { 0 }
                | if self.lenient { raw::INLAY_CONSTRAINT_FLAG_LENIENT } else { 0 },
            text: self.text.map_or(std::ptr::null(), |text| text.as_ptr().cast()),
            text_len: self.text.map_or(0, str::len),
            choices: if choices.is_empty() { std::ptr::null() } else { choices.as_ptr() },
            n_choices: choices.len(),
            prompt: if self.prompt.is_empty() { std::ptr::null() } else { self.prompt.as_ptr() },
            n_prompt: self.prompt.len(),
            format: self.format.map_or(std::ptr::null(), |text| text.as_ptr().cast()),
            format_len: self.format.map_or(0, str::len),
            chat_template: self.chat_template.map_or(std::ptr::null(), |text| text.as_ptr().cast()),
            template_len: self.chat_template.map_or(0, str::len),
            ..Default::default()
        })
    }
}

impl Engine {
    /// Compiles which texts may be written, for this engine's vocabulary; the first one reads it, which takes a moment. Blocks while
    /// it compiles, for which there are limits of time and memory: one constraint is for all sessions and requests that need it.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// let yes_or_no = engine.constraint(&ConstraintSource::choices(["yes", "no"]))?;
    /// let mut session = engine.session(&SessionOptions::default().constraint(yes_or_no))?;
    /// let answer = session.generate("Is the old fox asleep?", &GenerateOptions::default())?.into_text()?;
    /// assert!(["yes", "no"].contains(&answer.as_str()));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::Format`](crate::Status::Format): the text is no such schema, grammar or expression;
    /// [`Status::Unsupported`](crate::Status::Unsupported): it needs what is not supported, or more than the limits, or the model has
    /// no tokenizer. The message names the place.
    pub fn constraint(&self, source: &ConstraintSource<'_>) -> Result<Constraint> {
        let mut constraint = std::ptr::null_mut();
        let create = self.functions().inlay_constraint_create;
        // SAFETY: engine and parameters live during the call.
        source.with_raw(|params| call(|err| unsafe { create(self.as_ptr(), params, &mut constraint, err) }))?;
        Ok(Constraint { shared: Arc::new(Shared { library: self.library(), constraint }) })
    }
}

impl Session {
    /// The text that must follow under the session's constraint, up to where there is a choice or the text may end, at most 4096
    /// bytes. Empty without a constraint. It is drawn all the same; a program may show it at once, or append its tokens with
    /// [`accept`](Self::accept).
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default())?;
    /// let name = engine.constraint(&ConstraintSource::regex("Her name was (Mira|Anna)\\."))?;
    /// session.set_constraint(&name, "Her")?;
    /// assert_eq!(session.forced_text()?, " name was ");
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::InvalidState`](crate::Status::InvalidState).
    pub fn forced_text(&mut self) -> Result<String> {
        let read = self.functions().inlay_session_get_forced_text;
        let session = self.as_ptr();
        // SAFETY: the session is exclusively ours, and the buffer has the room that is told.
        read_string(TEXT_BYTES, |buf, cap, needed, err| unsafe { read(session, buf.cast(), cap, needed, err) })
    }

    /// Says what the session may write from now on, and in every later generation; `None`: anything. `written` is what was written
    /// under the constraint before, such as the beginning of an answer in the prompt. A truncation inside of the text goes back in it,
    /// a fork takes it along.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut session = engine.session(&SessionOptions::default())?;
    /// let name = engine.constraint(&ConstraintSource::regex("Her name was (Mira|Anna)\\."))?;
    /// session.prefill("A girl lived in the wood. Her name was")?;
    /// session.set_constraint(&name, "Her name was")?;
    /// let rest = session.events().into_text()?;
    /// assert!([" Mira.", " Anna."].contains(&rest.as_str()));
    /// session.set_constraint(None, "")?;
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument): the constraint is another engine's, or does not allow what was
    /// written; [`Status::Unsupported`](crate::Status::Unsupported) or [`Status::InvalidState`](crate::Status::InvalidState). The
    /// session is as before.
    pub fn set_constraint<'c>(&mut self, constraint: impl Into<Option<&'c Constraint>>, written: &str) -> Result<()> {
        let constraint = Constraint::of(constraint.into(), self.engine().library())?;
        let set = self.functions().inlay_session_set_constraint;
        let (text, n_text) = (written.as_ptr().cast(), written.len());
        // SAFETY: constraint and text live during the call, and the session is used here alone.
        call(|err| unsafe { set(self.as_ptr(), constraint, text, n_text, err) })
    }
}
