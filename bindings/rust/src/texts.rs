//! An engine's texts and tokens.
use crate::engine::{COMPUTED_TEXT_BYTES, TEXT_BYTES};
use crate::error::{call, into_string, read_all, read_bytes, read_string, TOKENS};
use crate::{
    raw, Chat, ChatEnd, ChatMessage, Conversation, Engine, Result, SessionOptions, Status, Token, TokenInfo,
    TokenizeOptions,
};

impl Engine {
    /// Turns text into token ids.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// let tokens = engine.tokenize("Once upon a time", TokenizeOptions::default().no_bos_eos(true))?;
    /// assert_eq!(engine.detokenize(&tokens, false)?, "Once upon a time");
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::Unsupported`]. The model has no tokenizer.
    pub fn tokenize(&self, text: &str, options: TokenizeOptions) -> Result<Vec<Token>> {
        let tokenize = self.functions().inlay_tokenize;
        let (from, n_text, flags) = (text.as_ptr().cast(), text.len(), options.to_raw());
        let mut tokens = vec![0; n_text + 2]; // enough for most texts
        loop {
            let (to, cap, mut n) = (tokens.as_mut_ptr(), tokens.len(), 0);
            // SAFETY: text and room live during the call.
            match call(|err| unsafe { tokenize(self.as_ptr(), from, n_text, flags, to, cap, &mut n, err) }) {
                Err(error) if error.status() == Status::BufferTooSmall && n > tokens.len() => tokens.resize(n, 0),
                Err(error) => return Err(error),
                Ok(()) => {
                    tokens.truncate(n);
                    return Ok(tokens);
                }
            }
        }
    }

    /// Turns token ids into text. Control tokens give their text if `show_special`, else nothing. Where the ids begin or end
    /// inside a character, U+FFFD stands for its part; [`detokenize_bytes`](Self::detokenize_bytes) gives the bytes.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// let tokens = engine.tokenize("an old fox", TokenizeOptions::default())?;
    /// assert_eq!(engine.detokenize(&tokens, false)?, "an old fox");
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::Unsupported`]. The model has no tokenizer.
    pub fn detokenize(&self, tokens: &[Token], show_special: bool) -> Result<String> {
        Ok(into_string(self.detokenize_bytes(tokens, show_special)?))
    }

    /// Turns token ids into the bytes that they stand for.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// let tokens = engine.tokenize("é", TokenizeOptions::default())?;
    /// assert_eq!(engine.detokenize_bytes(&tokens, false)?, "é".as_bytes());
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::Unsupported`]. The model has no tokenizer.
    pub fn detokenize_bytes(&self, tokens: &[Token], show_special: bool) -> Result<Vec<u8>> {
        let flags = if show_special { raw::INLAY_DETOKENIZE_SHOW_SPECIAL } else { 0 };
        read_bytes(TEXT_BYTES, |buf, cap, needed, err| {
            let (from, n) = (tokens.as_ptr(), tokens.len());
            // SAFETY: the tokens live during the call; the buffer has room for `cap` bytes.
            unsafe { (self.functions().inlay_detokenize)(self.as_ptr(), from, n, flags, buf.cast(), cap, needed, err) }
        })
    }

    /// Writes a conversation as the text that the model was trained on: by `template`, or by the model's own if that is
    /// `None`. `conversation` is [messages](crate::ChatMessage), or JSON: an array of messages, or an object of all the template's
    /// variables. The text ends as `end` says; `true` stands for [`ChatEnd::Answer`]. For tokens use
    /// [`chat_tokens`](Self::chat_tokens).
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// let text = engine.chat_text(&[ChatMessage::user("Do you have a room?")], None, true)?;
    /// assert!(text.contains("Do you have a room?"));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::Format`] or [`Status::Unsupported`]. The conversation or the template is wrong, or there is no template.
    pub fn chat_text<'c>(
        &self,
        conversation: impl Into<Conversation<'c>>,
        template: Option<&str>,
        end: impl Into<ChatEnd>,
    ) -> Result<String> {
        let conversation = conversation.into().json();
        let params = chat_params(template, end.into());
        read_string(COMPUTED_TEXT_BYTES, |buf, cap, needed, err| {
            let (json, n_json) = (conversation.as_ptr().cast(), conversation.len());
            // SAFETY: the texts live during the call; the buffer has room for `cap` bytes.
            unsafe {
                let render = self.functions().inlay_chat_render;
                render(self.as_ptr(), json, n_json, &params, buf.cast(), cap, needed, err)
            }
        })
    }

    /// Begins a conversation in a session of its own, made with these options. Their `max_tokens` is the longest answer, for
    /// which room is kept; where it is 0, or more than half of the context, it is half of the context. The messages are what was
    /// said before: the system's at the beginning always stay, and a turn is all from a user's message to the next one. There
    /// may be none.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// let mut chat = engine.chat(&SessionOptions::default().max_tokens(8), [ChatMessage::system("You are an innkeeper.")])?;
    /// let answer = chat.ask("Do you have a room?")?.into_text()?;
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Session::new`](crate::Session::new).
    pub fn chat(&self, options: &SessionOptions, messages: impl IntoIterator<Item = ChatMessage>) -> Result<Chat> {
        Chat::new(self, options, messages.into_iter().collect())
    }

    /// The conversation as tokens, with what [`chat_text`](Self::chat_text) takes. Only the template's own control tokens
    /// count: those that messages or other values of the conversation have in writing are text.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// let prompt = engine.chat_tokens(&[ChatMessage::user("Do you have a room?")], None, true)?;
    /// let mut session = engine.session(&SessionOptions::default().max_tokens(8))?;
    /// let answer = session.generate(&prompt, &GenerateOptions::default())?.into_text()?;
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::Format`] or [`Status::Unsupported`]. The conversation or the template is wrong, or there is no template.
    pub fn chat_tokens<'c>(
        &self,
        conversation: impl Into<Conversation<'c>>,
        template: Option<&str>,
        end: impl Into<ChatEnd>,
    ) -> Result<Vec<Token>> {
        let conversation = conversation.into().json();
        let params = chat_params(template, end.into());
        let (json, n_json) = (conversation.as_ptr().cast(), conversation.len());
        let tokenize = self.functions().inlay_chat_tokenize;
        // SAFETY: the texts live during the call; there is room for `cap` tokens.
        read_all(TOKENS, |to, cap, n, err| unsafe { tokenize(self.as_ptr(), json, n_json, &params, to, cap, n, err) })
    }

    /// Describes one token.
    ///
    /// ```
    /// # use inlay::*;
    /// # let engine = Engine::load(env!("INLAY_TEST_MODEL"), LoadOptions::default())?;
    /// if let Some(eos) = engine.info()?.eos {
    ///     assert!(engine.token_info(eos)?.ends_generation);
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Status::InvalidArgument`] or [`Status::Unsupported`]. There is no such token, or no tokenizer.
    pub fn token_info(&self, token: Token) -> Result<TokenInfo> {
        let mut info = raw::inlay_token_info::default();
        // SAFETY: the struct is ours and says its size.
        call(|err| unsafe { (self.functions().inlay_token_get_info)(self.as_ptr(), token, &mut info, err) })?;
        Ok(TokenInfo::from_raw(&info))
    }
}

/// The parameters of a conversation; the template must live as long.
pub(crate) fn chat_params(template: Option<&str>, end: ChatEnd) -> raw::inlay_chat_params {
    raw::inlay_chat_params {
        flags: match end {
            ChatEnd::Conversation => 0,
            ChatEnd::Answer => raw::INLAY_CHAT_ADD_GENERATION_PROMPT,
            ChatEnd::LastMessage => raw::INLAY_CHAT_CONTINUE_FINAL_MESSAGE,
        },
        chat_template: template.map_or(std::ptr::null(), |text| text.as_ptr().cast()),
        template_len: template.map_or(0, str::len),
        ..Default::default()
    }
}
