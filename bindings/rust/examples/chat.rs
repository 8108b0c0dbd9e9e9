//! A conversation on the console: each line is a turn, and the answer is written as it is decoded. Ctrl-D ends it. The model's
//! file must have a chat template.
//! usage: chat MODEL [SYSTEM [TOKENS]]      SYSTEM: what the model is told before; TOKENS: the longest answer (256)
use inlay::{ChatMessage, Engine, GenerateOptions, LoadOptions, Sampler, Session, SessionOptions, Token};
use std::io::Write;

/// The messages, and the session that holds their tokens.
struct Chat {
    session: Session,
    held: Vec<Token>, // the session's
    messages: Vec<ChatMessage>,
    n_system: usize, // messages that are never dropped
    room: usize,     // for a prompt, in tokens
}

impl Chat {
    /// The messages, of which the oldest turns are dropped where they leave no room for an answer, and their tokens. Dropping goes
    /// on until half of the room is free: all that follows has to run again, and this should be rare.
    fn fitting(&self, mut messages: Vec<ChatMessage>) -> inlay::Result<(Vec<ChatMessage>, Vec<Token>)> {
        let tokens = |messages: &Vec<_>| self.session.engine().chat_tokens(messages, None, true);
        let mut prompt = tokens(&messages)?;
        let goal = if prompt.len() <= self.room { self.room } else { self.room / 2 };
        while prompt.len() > goal && messages.len() > self.n_system + 1 {
            messages.drain(self.n_system..self.n_system + 2); // a line and its answer
            prompt = tokens(&messages)?;
        }
        Ok((messages, prompt))
    }

    /// Writes the answer to a line. Only what the session does not hold yet is run.
    fn answer(&mut self, line: &str) -> Result<(), Box<dyn std::error::Error>> {
        let n_messages = self.messages.len() + 1;
        let (messages, prompt) = self.fitting([&self.messages[..], &[ChatMessage::user(line)]].concat())?;
        if prompt.len() > self.room {
            eprintln!("(this line is too long for the model's context)");
            return Ok(());
        }
        if messages.len() < n_messages {
            eprintln!("(the context is full: the oldest turns are forgotten)");
        }
        let n_common = self.held.iter().zip(&prompt).take_while(|(held, token)| held == token).count();
        let n_held = n_common.min(prompt.len() - 1); // a prompt has a token at least
        self.session.truncate(n_held)?;
        (self.messages, self.held) = (messages, prompt.clone());
        let mut answer = String::new();
        for event in self.session.generate(&prompt[n_held..], &GenerateOptions::default())? {
            let event = event?;
            self.held.extend(event.token);
            answer += &event.text;
            print!("{}", event.text);
            std::io::stdout().flush()?;
            if let Some(reason) = event.finish_reason {
                let (n_new, n_drawn) = (event.n_prompt, event.n_generated);
                println!();
                eprintln!("({n_new} of {} tokens were new, {n_drawn} drawn, {reason:?})", prompt.len());
            }
        }
        self.messages.push(ChatMessage::assistant(answer));
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let model = arguments.get(1).ok_or("usage: chat MODEL [SYSTEM [TOKENS]]")?;
    let messages: Vec<_> = arguments.get(2).into_iter().map(ChatMessage::system).collect();
    let max_tokens: u32 = arguments.get(3).map_or(Ok(256), |n| n.parse())?;
    let engine = Engine::load(model, LoadOptions::default().max_sessions(1))?;
    let n_context = engine.info()?.n_context;
    let max_tokens = max_tokens.clamp(1, n_context / 2);
    let sampler = Sampler::default().temperature(0.8).top_p(0.95).seed(1);
    let session = engine.session(&SessionOptions::default().sampler(sampler).max_tokens(max_tokens))?;
    let (n_system, room) = (messages.len(), (n_context - max_tokens) as usize);
    let mut chat = Chat { session, held: Vec::new(), messages, n_system, room };
    for line in std::io::stdin().lines().filter(|line| !line.as_ref().is_ok_and(String::is_empty)) {
        chat.answer(&line?)?;
    }
    Ok(())
}
