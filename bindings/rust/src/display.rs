//! What the library tells, as one line for people. Sizes are in MiB.
use crate::{
    Comparison, ConstraintInfo, ConstraintState, DeviceInfo, DeviceKind, EngineInfo, Event, Explanation, FinishReason,
    LogLevel, LogMessage, MemoryInfo, SessionInfo, Stats, Status, TokenComparison, TokenInfo, TokenKind, TokenLogprob,
    TokenScore,
};
use std::fmt::{Display, Formatter, Result};

/// The words of a name such as `EndOfGeneration` or `Other(7)`, in lower case.
fn words(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        match c {
            '(' => out.push(' '),
            ')' => {}
            c if c.is_ascii_uppercase() => {
                if !out.is_empty() {
                    out.push(' ');
                }
                out.push(c.to_ascii_lowercase());
            }
            c => out.push(c),
        }
    }
    out
}

macro_rules! display_as_words {
    ($($name:ident)*) => {
        $(
            /// The name's words in lower case.
            impl Display for $name {
                fn fmt(&self, f: &mut Formatter<'_>) -> Result {
                    f.pad(&words(&format!("{self:?}")))
                }
            }
        )*
    };
}

display_as_words!(Status FinishReason LogLevel TokenKind ConstraintState);

/// CPU, CUDA and so on.
impl Display for DeviceKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.pad(&format!("{self:?}").to_ascii_uppercase())
    }
}

macro_rules! display_as_text {
    ($($name:ident . $field:ident)*) => {
        $(
            #[doc = concat!("The ", stringify!($field), ".")]
            impl Display for $name {
                fn fmt(&self, f: &mut Formatter<'_>) -> Result {
                    f.pad(&self.$field)
                }
            }
        )*
    };
}

display_as_text!(Event.text Explanation.text Comparison.table);

fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

impl Display for LogMessage {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}: {}", self.level, self.text)
    }
}

impl Display for DeviceInfo {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Self { kind, index, n_units, total_bytes, free_bytes, name, features } = self;
        write!(f, "{kind} {index}: {name}, {n_units} units, {} of ", mib(*free_bytes))?;
        write!(f, "{} free", mib(*total_bytes))?;
        if !features.is_empty() {
            write!(f, "; {features}")?;
        }
        Ok(())
    }
}

impl Display for MemoryInfo {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} on {}: weights {}, ", mib(self.total_bytes), self.device, mib(self.weight_bytes))?;
        write!(f, "keys and values {}, rest {}; ", mib(self.kv_bytes), mib(self.scratch_bytes))?;
        write!(f, "{} sessions of {} tokens; ", self.max_sessions, self.n_context)?;
        write!(f, "{} available", mib(self.available_bytes))
    }
}

impl Display for EngineInfo {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} parameters in {} layers of width {} ", self.n_params, self.n_layers, self.d_model)?;
        write!(f, "on {}: weights {}, keys and values {}; ", self.device, mib(self.weight_bytes), mib(self.kv_bytes))?;
        write!(f, "{} sessions of {} tokens", self.max_sessions, self.n_context)
    }
}

impl Display for TokenInfo {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{:?}, {}", String::from_utf8_lossy(&self.piece), self.kind)?;
        f.write_str(if self.ends_generation { ", ends a generation" } else { "" })
    }
}

impl Display for SessionInfo {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "generation {}: {} of {} tokens, ", self.generation, self.n_tokens, self.n_context)?;
        write!(f, "{} drawn, {} blocks", self.n_generated, self.n_kv_blocks)?;
        if let Some(state) = self.constraint_state {
            write!(f, "; constrained: {state}")?;
        }
        match self.finish_reason {
            Some(reason) => write!(f, "; ended: {reason}"),
            None => Ok(()),
        }
    }
}

impl Display for ConstraintInfo {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}, {} remarks", mib(self.memory_bytes), self.n_remarks)
    }
}

impl Display for Stats {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} sessions; load {:.3} s; ", self.n_sessions, self.load_time.as_secs_f64())?;
        write!(f, "prefill {} tokens in {:.3} s; ", self.n_prefill_tokens, self.prefill_time.as_secs_f64())?;
        write!(f, "decode {} tokens in {} steps, ", self.n_decode_tokens, self.n_decode_steps)?;
        write!(f, "{:.3} s; ", self.decode_time.as_secs_f64())?;
        write!(f, "{} of {} blocks in use, ", self.n_kv_blocks_used, self.n_kv_blocks)?;
        write!(f, "{} at most", self.n_kv_blocks_peak)
    }
}

impl Display for TokenLogprob {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}: {:.4}", self.token, self.logprob)
    }
}

impl Display for TokenComparison {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{:.4}, rank {}, divergence {:.4}, ", self.logprob, self.rank, self.divergence)?;
        f.write_str(if self.same_best { "same best token" } else { "another best token" })
    }
}

impl Display for TokenScore {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let (Some(logprob), Some(rank)) = (self.logprob, self.rank) else { return f.write_str("given") };
        write!(f, "{logprob:.4}, rank {rank}")?;
        match &self.against {
            Some(other) => write!(f, "; against {other}"),
            None => Ok(()),
        }
    }
}
