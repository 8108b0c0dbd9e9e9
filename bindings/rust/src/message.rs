//! What a model writes, taken apart while it is written: reasoning, content and calls of tools.
use crate::callbacks::{free, Handle};
use crate::engine::TEXT_BYTES;
use crate::error::{call, into_string, read_string};
use crate::options::setters;
use crate::{raw, ChatDeltaKind, Engine, Library, Result, Token};
use std::cell::Cell;
use std::marker::PhantomData;

/// How many parts and bytes one call of the library gives.
const PARTS: usize = 64;
const PART_TEXT_BYTES: usize = 4096;

setters! {
    impl['a] MessageOptions<'a> {
        format: impl Into<Option<&'a str>>,
        chat_template: impl Into<Option<&'a str>>,
        tools: impl Into<Option<&'a str>>,
        prompt: impl Into<Vec<Token>>,
        written_markers: bool,
    }
}

/// What a [`MessageParser`] reads a message by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessageOptions<'a> {
    /// A format of reasoning and calls as JSON, at most 1 MiB. Default: the one that the chat template writes.
    pub format: Option<&'a str>,
    /// The chat template that wrote the prompt. Default: the model's own.
    pub chat_template: Option<&'a str>,
    /// The tools as a JSON array, as OpenAI's protocol has them. What formats write without quotes becomes JSON by their types.
    pub tools: Option<&'a str>,
    /// The prompt, or its last tokens: templates may begin the answer, as those do that open the reasoning.
    pub prompt: Vec<Token>,
    /// Letters of markers count, also those that the vocabulary has as tokens: for text in which control tokens are written out.
    /// Without it such letters are text, so that a model can speak of them.
    pub written_markers: bool,
}

impl MessageOptions<'_> {
    fn with_raw<T>(&self, function: impl FnOnce(&raw::inlay_chat_parser_params) -> T) -> T {
        let text = |text: Option<&str>| text.map_or((std::ptr::null(), 0), |text| (text.as_ptr().cast(), text.len()));
        let ((format, format_len), (chat_template, template_len)) = (text(self.format), text(self.chat_template));
        let (tools, tools_len) = text(self.tools);
        function(&raw::inlay_chat_parser_params {
            flags: if self.written_markers { raw::INLAY_CHAT_PARSER_WRITTEN_MARKERS } else { 0 },
            format,
            format_len,
            chat_template,
            template_len,
            tools,
            tools_len,
            prompt: self.prompt.as_ptr(),
            n_prompt: self.prompt.len(),
            ..Default::default()
        })
    }
}

/// A part of a message. Parts of one kind that follow each other are one text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessagePart {
    /// What it is.
    pub kind: ChatDeltaKind,
    /// The call that it is of, 0 for the message's first. 0 for reasoning and content.
    pub call: usize,
    /// The text; with [`CallBegin`](ChatDeltaKind::CallBegin) the tool's name.
    pub text: String,
    /// With [`CallEnd`](ChatDeltaKind::CallEnd): the arguments are one JSON value. Else the call was cut.
    pub is_whole: bool,
}

/// A whole message: see [`Engine::parse_message`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParsedMessage {
    /// The message as JSON, to be appended to the conversation as it is: `role`, `content`, and `reasoning_content` and
    /// `tool_calls` where there are any.
    pub json: String,
    /// How many calls it has.
    pub n_calls: usize,
    /// Neither reasoning nor a call is open. A message that was cut need not be.
    pub is_complete: bool,
    /// Some text was not as the format says. It is content.
    pub is_malformed: bool,
}

/// Takes one message apart while a model writes it. Made by [`Engine::message_parser`].
///
/// Tokens or text go in, [parts](Self::take) come out, which are never taken back. Whatever a model writes is a message: what is not
/// as the format says is content. It can be sent to another thread, and keeps no engine alive.
pub struct MessageParser {
    parser: *mut raw::inlay_chat_parser,
    library: Library,
    _one_thread_at_a_time: PhantomData<Cell<()>>,
}

// SAFETY: no state of a parser belongs to a thread; whoever owns it is the only one who uses it.
unsafe impl Send for MessageParser {}

impl Drop for MessageParser {
    fn drop(&mut self) {
        let (parser, functions) = (Handle(self.parser), self.library.functions());
        // SAFETY: the parser is ours.
        free(move || unsafe { (functions.inlay_chat_parser_free)(parser.get()) });
    }
}

impl std::fmt::Debug for MessageParser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MessageParser({:p})", self.parser)
    }
}

impl MessageParser {
    /// Reads tokens that the model drew. A token that is a marker of the format counts as one, the same letters in other tokens do
    /// not; other control tokens are nothing.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// let mut parser = engine.message_parser(&MessageOptions::default())?;
    /// parser.append(&engine.tokenize("It rains.", TokenizeOptions::default())?)?;
    /// for part in parser.take()? {
    ///     print!("{}", part.text);
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::InvalidArgument`](crate::Status::InvalidArgument): one is no token; [`Status::InvalidState`](crate::Status::InvalidState)
    /// behind [`finish`](Self::finish). Nothing was read.
    pub fn append(&mut self, tokens: &[Token]) -> Result<()> {
        let append = self.functions().inlay_chat_parser_append;
        // SAFETY: the tokens live during the call, and the parser is used here alone.
        call(|err| unsafe { append(self.parser, tokens.as_ptr(), tokens.len(), err) })
    }

    /// Reads text, which may be cut anywhere. Letters of markers count where the vocabulary has no such token, and with
    /// [`written_markers`](MessageOptions::written_markers).
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// let format = r#"{"name": "own", "reasoning": {"begin": "<think>", "end": "</think>"}}"#;
    /// let mut parser = engine.message_parser(&MessageOptions::default().format(format))?;
    /// parser.append_text("<think>Why?</think>")?;
    /// assert_eq!(parser.take()?[0].kind, ChatDeltaKind::Reasoning);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::InvalidState`](crate::Status::InvalidState) behind [`finish`](Self::finish).
    pub fn append_text(&mut self, text: impl AsRef<[u8]>) -> Result<()> {
        let (append, text) = (self.functions().inlay_chat_parser_append_text, text.as_ref());
        // SAFETY: the text lives during the call, and the parser is used here alone.
        call(|err| unsafe { append(self.parser, text.as_ptr().cast(), text.len(), err) })
    }

    /// Says that the message ended, or was cut: what was held back is given.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut parser = engine.message_parser(&MessageOptions::default())?;
    /// parser.append_text("It rains.")?;
    /// parser.finish()?;
    /// assert_eq!(parser.message()?.json, r#"{"role": "assistant", "content": "It rains."}"#);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Only those that any call may fail with: see [`Error`](crate::Error).
    pub fn finish(&mut self) -> Result<()> {
        let finish = self.functions().inlay_chat_parser_finish;
        // SAFETY: the parser is used here alone.
        call(|err| unsafe { finish(self.parser, err) })
    }

    /// Takes the parts that are ready, in the order of the text.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut parser = engine.message_parser(&MessageOptions::default())?;
    /// parser.append_text("It rains.")?;
    /// for part in parser.take()? {
    ///     match part.kind {
    ///         ChatDeltaKind::Content => print!("{}", part.text),
    ///         ChatDeltaKind::CallBegin => println!("calls {}", part.text),
    ///         _ => {}
    ///     }
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Only those that any call may fail with: see [`Error`](crate::Error).
    pub fn take(&mut self) -> Result<Vec<MessagePart>> {
        let take = self.functions().inlay_chat_parser_take;
        let mut deltas = [raw::inlay_chat_delta::default(); PARTS];
        let mut text = vec![0_u8; PART_TEXT_BYTES];
        let mut out = Vec::new();
        loop {
            let (stride, mut n) = (size_of::<raw::inlay_chat_delta>(), 0);
            // SAFETY: both arrays have the room that is said, and the parser is used here alone.
            call(|err| unsafe {
                take(self.parser, deltas.as_mut_ptr(), PARTS, stride, text.as_mut_ptr().cast(), text.len(), &mut n, err)
            })?;
            if n == 0 {
                return Ok(out);
            }
            for delta in &deltas[..n] {
                out.push(MessagePart {
                    kind: ChatDeltaKind::from_raw(delta.kind),
                    call: usize::try_from(delta.call).unwrap_or(0),
                    text: into_string(text[delta.first_byte..delta.first_byte + delta.text_bytes].to_vec()),
                    is_whole: delta.flags & raw::INLAY_CHAT_DELTA_FLAG_WHOLE != 0,
                });
            }
        }
    }

    /// The whole message, whether its parts were taken or not, once it is [finished](Self::finish).
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let mut parser = engine.message_parser(&MessageOptions::default())?;
    /// parser.finish()?;
    /// assert!(parser.message()?.is_complete);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::InvalidState`](crate::Status::InvalidState): it is not finished.
    pub fn message(&self) -> Result<ParsedMessage> {
        let read = self.functions().inlay_chat_parser_get_message;
        let json = read_string(TEXT_BYTES, |buf, cap, needed, err| {
            // SAFETY: the buffer has room for `cap` bytes, and the parser is used here alone.
            unsafe { read(self.parser, buf.cast(), cap, needed, err) }
        })?;
        let info = self.read_info()?;
        let has = |flag| info.flags & flag != 0;
        Ok(ParsedMessage {
            json,
            n_calls: usize::try_from(info.n_calls).unwrap_or(0),
            is_complete: has(raw::INLAY_CHAT_PARSER_INFO_COMPLETE),
            is_malformed: has(raw::INLAY_CHAT_PARSER_INFO_MALFORMED),
        })
    }

    /// Whether [`finish`](Self::finish) was called.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// let mut parser = engine.message_parser(&MessageOptions::default())?;
    /// assert!(!parser.is_finished()?);
    /// parser.finish()?;
    /// assert!(parser.is_finished()?);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Only those that any call may fail with: see [`Error`](crate::Error).
    pub fn is_finished(&self) -> Result<bool> {
        Ok(self.read_info()?.flags & raw::INLAY_CHAT_PARSER_INFO_FINISHED != 0)
    }

    fn read_info(&self) -> Result<raw::inlay_chat_parser_info> {
        let mut info = raw::inlay_chat_parser_info::default();
        // SAFETY: the struct is ours and says its size.
        call(|err| unsafe { (self.functions().inlay_chat_parser_get_info)(self.parser, &mut info, err) })?;
        Ok(info)
    }

    /// The handle of the C API, for what this crate does not wrap. It is this object's: it must not be freed.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// # let parser = engine.message_parser(&MessageOptions::default())?;
    /// let finish = engine.library().functions().inlay_chat_parser_finish;
    /// // SAFETY: the parser lives, and nobody else uses it.
    /// assert_eq!(unsafe { finish(parser.as_ptr(), std::ptr::null_mut()) }, raw::INLAY_OK);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn as_ptr(&self) -> *mut raw::inlay_chat_parser {
        self.parser
    }

    fn functions(&self) -> &'static raw::Functions {
        self.library.functions()
    }
}

impl Engine {
    /// Makes a parser of one message, by the format of the model's chat template.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// let mut parser = engine.message_parser(&MessageOptions::default())?;
    /// parser.append_text("It rains.")?;
    /// assert_eq!(parser.take()?[0].text, "It rains.");
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::Format`](crate::Status::Format): the format or the tools are not as they should be; the message names the place.
    /// [`Status::Unsupported`](crate::Status::Unsupported): the model has no tokenizer.
    pub fn message_parser(&self, options: &MessageOptions<'_>) -> Result<MessageParser> {
        let mut parser = std::ptr::null_mut();
        let create = self.functions().inlay_chat_parser_create;
        // SAFETY: engine and parameters live during the call.
        options.with_raw(|params| call(|err| unsafe { create(self.as_ptr(), params, &mut parser, err) }))?;
        Ok(MessageParser { parser, library: self.library(), _one_thread_at_a_time: PhantomData })
    }

    /// Takes a whole message apart: the tokens that a generation drew.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// let tokens = engine.tokenize("It rains.", TokenizeOptions::default())?;
    /// let message = engine.parse_message(&tokens, &MessageOptions::default())?;
    /// assert_eq!((message.n_calls, message.is_complete), (0, true));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`message_parser`](Self::message_parser) and [`MessageParser::append`].
    pub fn parse_message(&self, tokens: &[Token], options: &MessageOptions<'_>) -> Result<ParsedMessage> {
        let mut parser = self.message_parser(options)?;
        parser.append(tokens)?;
        parser.finish()?;
        parser.message()
    }

    /// Says in which format the model writes reasoning and calls, as JSON: `name`, `reasoning` and `calls`, whether it has any,
    /// `arguments`, how the template takes those of earlier calls, and `remark`, what was not recognized.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// let format = engine.chat_format(&MessageOptions::default())?;
    /// assert!(format.starts_with(r#"{"name": "content""#));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`message_parser`](Self::message_parser).
    pub fn chat_format(&self, options: &MessageOptions<'_>) -> Result<String> {
        let read = self.functions().inlay_chat_get_format;
        options.with_raw(|params| {
            read_string(TEXT_BYTES, |buf, cap, needed, err| {
                // SAFETY: engine and parameters live during the call, and the buffer has room for `cap` bytes.
                unsafe { read(self.as_ptr(), params, buf.cast(), cap, needed, err) }
            })
        })
    }
}
