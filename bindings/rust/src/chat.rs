use std::borrow::Cow;
use std::fmt::Write;

/// One message of a conversation. A conversation with more than roles and texts (tools, images, a template's own variables) is
/// written as JSON: see [`Conversation::Json`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ChatMessage {
    /// Who says it: `system`, `user`, `assistant`, or what else the model's template knows.
    pub role: String,
    /// What is said. Control tokens in it are text.
    pub content: String,
}

impl ChatMessage {
    /// A message of any role.
    ///
    /// ```
    /// # use inlay::*;
    /// let message = ChatMessage::new("tool", "22 degrees");
    /// assert_eq!(message.role, "tool");
    /// # Ok::<(), Error>(())
    /// ```
    pub fn new(role: impl Into<String>, content: impl Into<String>) -> Self {
        Self { role: role.into(), content: content.into() }
    }

    /// What the model is told before the conversation.
    ///
    /// ```
    /// # use inlay::*;
    /// let message = ChatMessage::system("Answer in one sentence.");
    /// assert_eq!(message.role, "system");
    /// # Ok::<(), Error>(())
    /// ```
    pub fn system(content: impl Into<String>) -> Self {
        Self::new("system", content)
    }

    /// What the user says.
    ///
    /// ```
    /// # use inlay::*;
    /// let message = ChatMessage::user("Do you have a room?");
    /// assert_eq!(message.role, "user");
    /// # Ok::<(), Error>(())
    /// ```
    pub fn user(content: impl Into<String>) -> Self {
        Self::new("user", content)
    }

    /// What the model has said.
    ///
    /// ```
    /// # use inlay::*;
    /// let message = ChatMessage::assistant("Yes, upstairs.");
    /// assert_eq!(message.role, "assistant");
    /// # Ok::<(), Error>(())
    /// ```
    pub fn assistant(content: impl Into<String>) -> Self {
        Self::new("assistant", content)
    }

    /// A conversation as the JSON array that [`Conversation::Json`] takes.
    ///
    /// ```
    /// # use inlay::*;
    /// let json = ChatMessage::to_json(&[ChatMessage::user("Hello")]);
    /// assert_eq!(json, r#"[{"role":"user","content":"Hello"}]"#);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_json(messages: &[Self]) -> String {
        let mut json = String::from("[");
        for (i, message) in messages.iter().enumerate() {
            json += if i > 0 { ",{\"role\":" } else { "{\"role\":" };
            quote(&mut json, &message.role);
            json += ",\"content\":";
            quote(&mut json, &message.content);
            json.push('}');
        }
        json.push(']');
        json
    }
}

fn quote(json: &mut String, text: &str) {
    json.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            '\0'..='\x1f' => write!(json, "\\u{:04x}", u32::from(c)).expect("a string takes all"),
            _ => json.push(c),
        }
    }
    json.push('"');
}

/// What a model's chat template is given: messages, or JSON.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Conversation<'a> {
    /// JSON: an array of messages, or an object of all the template's variables.
    Json(&'a str),
    /// Messages of a role and a text each.
    Messages(&'a [ChatMessage]),
}

impl<'a> Conversation<'a> {
    pub(crate) fn json(self) -> Cow<'a, str> {
        match self {
            Self::Json(json) => json.into(),
            Self::Messages(messages) => ChatMessage::to_json(messages).into(),
        }
    }
}

impl<'a> From<&'a str> for Conversation<'a> {
    fn from(json: &'a str) -> Self {
        Self::Json(json)
    }
}

impl<'a> From<&'a String> for Conversation<'a> {
    fn from(json: &'a String) -> Self {
        Self::Json(json)
    }
}

impl<'a> From<&'a [ChatMessage]> for Conversation<'a> {
    fn from(messages: &'a [ChatMessage]) -> Self {
        Self::Messages(messages)
    }
}

impl<'a> From<&'a Vec<ChatMessage>> for Conversation<'a> {
    fn from(messages: &'a Vec<ChatMessage>) -> Self {
        Self::Messages(messages)
    }
}

impl<'a, const N: usize> From<&'a [ChatMessage; N]> for Conversation<'a> {
    fn from(messages: &'a [ChatMessage; N]) -> Self {
        Self::Messages(messages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_become_json() {
        assert_eq!(ChatMessage::to_json(&[]), "[]");
        let messages = [ChatMessage::system("Be brief."), ChatMessage::user("Hello"), ChatMessage::assistant("")];
        let json = r#"[{"role":"system","content":"Be brief."},{"role":"user","content":"Hello"},{"role":"assistant","content":""}]"#;
        assert_eq!(ChatMessage::to_json(&messages), json);
        assert_eq!(Conversation::from(&messages).json(), json);
        assert_eq!(Conversation::from(&messages.to_vec()).json(), json);
        assert_eq!(Conversation::from(&messages[..]).json(), json);
        assert_eq!(Conversation::from(&json.to_owned()).json(), json);
    }

    #[test]
    fn what_json_reserves_is_escaped() {
        let json = ChatMessage::to_json(&[ChatMessage::new("a\"b", "\\ \"\n\r\t\0\x1f\x7f/ 'é\u{2028}😀")]);
        let expected = r#"[{"role":"a\"b","content":"\\ \"\u000a\u000d\u0009\u0000\u001f"#.to_owned();
        assert_eq!(json, expected + "\x7f/ 'é\u{2028}😀\"}]");
    }
}
