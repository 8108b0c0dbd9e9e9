use crate::options::count;
use crate::session::raw_text;
use crate::{raw, Token};

/// A change of one token's logit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogitBias {
    /// Token id.
    pub token: Token,
    /// Added to the logit; minus infinity bans the token.
    pub bias: f32,
}

/// How a token is drawn. The steps run in this order: bias and DRY, penalties, top n sigma, temperature, top k, typical p, top p,
/// min p, XTC, draw. The default is greedy.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Sampler {
    /// Divides the logits. 0: greedy, the likeliest token, the lower id at a tie. Range: 0 or more.
    pub temperature: f32,
    /// Keep the k likeliest tokens. 0: off.
    pub top_k: u32,
    /// Keep the likeliest tokens whose probabilities reach this sum. 0: off, as 1 is. Range: 0 to 1.
    pub top_p: f32,
    /// Drop tokens less likely than this part of the likeliest one's probability. 0: off. Range: 0 to 1.
    pub min_p: f32,
    /// Divides positive and multiplies negative logits of tokens in the window. 0: off, as 1 is. Range: 0 or more.
    pub repetition_penalty: f32,
    /// Subtracted once for every time that the token is in the window. 0: off. Range: any number.
    pub frequency_penalty: f32,
    /// Subtracted if the token is in the window. 0: off. Range: any number.
    pub presence_penalty: f32,
    /// Last tokens of the sequence that the penalties look at; -1 for all. 0: the last 64. Range: -1 or more.
    pub penalty_window: i32,
    /// Likeliest tokens to report in events, at most [`MAX_LOGPROBS`](crate::MAX_LOGPROBS). Range: 0 to 20.
    pub n_logprobs: u32,
    /// Same seed, stream, tokens and logits: same draw, whatever else is in the step.
    pub seed: u64,
    /// Logit changes, each token once, at most 1024.
    pub bias: Vec<LogitBias>,
    /// Locally typical sampling: keep the tokens whose surprise is nearest to the mean surprise and whose probabilities
    /// reach this sum. 0: off, as 1 is. Range: 0 to 1.
    pub typical_p: f32,
    /// Keep logits that are at most this many standard deviations below the largest. 0: off. Range: 0 or more.
    pub top_n_sigma: f32,
    /// Dynamic temperature: up to this much below `temperature` where the model is sure of the next token, up to this
    /// much above where it is not. 0: off. Range: 0 or more.
    pub dynatemp_range: f32,
    /// Power of the entropy, from 0 to 1, that says where in that range the temperature is. 0: 1. Range: 0 or more.
    pub dynatemp_exponent: f32,
    /// Exclude top choices: the chance with which, of the tokens that reach `xtc_threshold`, only the least likely
    /// stays. 0: off. Range: 0 to 1.
    pub xtc_probability: f32,
    /// Probability that makes a token a top choice. 0: 0.1. Range: 0 to 1.
    pub xtc_threshold: f32,
    /// Mirostat 2: the mean surprise, in bits, of the drawn tokens that is aimed at. It stands in the place of `top_k`,
    /// `typical_p`, `top_p`, `min_p` and XTC. 0: off. Range: 0 or more.
    pub mirostat_tau: f32,
    /// How much of its error Mirostat corrects with each token. 0: 0.1. Range: 0 or more.
    pub mirostat_eta: f32,
    /// Adaptive-p: tokens near a probability are preferred such that the mean of the drawn tokens' probabilities
    /// becomes this one. To be used with a filter as `min_p`. 0: off. Range: 0 to 1.
    pub adaptive_target: f32,
    /// What that mean keeps of itself with each token. 0: 0.9. Range: 0 to 0.99.
    pub adaptive_decay: f32,
    /// DRY: a token that would go on with a repetition of the sequence's end loses dry_multiplier * dry_base ^ (length
    /// of the repetition - dry_allowed_length) of its logit. 0: off. Range: 0 or more.
    pub dry_multiplier: f32,
    /// Base of that power. 0: 1.75. Range: 1 or more.
    pub dry_base: f32,
    /// Shorter repetitions, in tokens, cost nothing. 0: 2.
    pub dry_allowed_length: u32,
    /// Last tokens of the sequence in which repetitions are looked for. 0: all, as -1 is. Range: -1 or more.
    pub dry_window: i32,
    /// Texts that no repetition reaches across and whose tokens DRY leaves alone, at most 64, each of 1 to 128 bytes. None: a
    /// line feed, a colon, a quotation mark and an asterisk.
    pub dry_breakers: Vec<String>,
    /// Repetitions that DRY looks for reach across any text.
    pub no_dry_breakers: bool,
    /// The temperature comes behind the filters, which see the probabilities that the model gave: as llama.cpp orders them. Changes
    /// nothing with `mirostat_tau`, and without a filter.
    pub temperature_last: bool,
    /// Penalties leave the tokens alone that end a generation.
    pub spare_end_tokens: bool,
}

impl Sampler {
    /// Sets [`dry_breakers`](Self#structfield.dry_breakers).
    ///
    /// ```
    /// # use inlay::*;
    /// let sampler = Sampler::default().dry_multiplier(0.8).dry_breakers(["\n", "."]);
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn dry_breakers(mut self, texts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.dry_breakers = texts.into_iter().map(Into::into).collect();
        self
    }

    /// Makes a call with the sampler as the C API wants it.
    pub(crate) fn with_raw<T>(&self, function: impl FnOnce(&raw::inlay_sampler_params) -> T) -> T {
        let bias: Vec<_> = self.bias.iter().map(|b| raw::inlay_logit_bias { token: b.token, bias: b.bias }).collect();
        let breakers: Vec<_> = self.dry_breakers.iter().map(|text| raw_text(text)).collect();
        function(&raw::inlay_sampler_params {
            temperature: self.temperature,
            top_k: count(self.top_k),
            top_p: self.top_p,
            min_p: self.min_p,
            repetition_penalty: self.repetition_penalty,
            frequency_penalty: self.frequency_penalty,
            presence_penalty: self.presence_penalty,
            penalty_window: self.penalty_window,
            n_logprobs: count(self.n_logprobs),
            seed: self.seed,
            bias: if bias.is_empty() { std::ptr::null() } else { bias.as_ptr() },
            n_bias: bias.len(),
            typical_p: self.typical_p,
            top_n_sigma: self.top_n_sigma,
            dynatemp_range: self.dynatemp_range,
            dynatemp_exponent: self.dynatemp_exponent,
            xtc_probability: self.xtc_probability,
            xtc_threshold: self.xtc_threshold,
            mirostat_tau: self.mirostat_tau,
            mirostat_eta: self.mirostat_eta,
            adaptive_target: self.adaptive_target,
            adaptive_decay: self.adaptive_decay,
            dry_multiplier: self.dry_multiplier,
            dry_base: self.dry_base,
            dry_allowed_length: count(self.dry_allowed_length),
            dry_window: self.dry_window,
            dry_breakers: if breakers.is_empty() { std::ptr::null() } else { breakers.as_ptr() },
            n_dry_breakers: breakers.len(),
            flags: (if self.no_dry_breakers { raw::INLAY_SAMPLER_NO_DRY_BREAKERS } else { 0 })
                | (if self.temperature_last { raw::INLAY_SAMPLER_TEMPERATURE_LAST } else { 0 })
                | (if self.spare_end_tokens { raw::INLAY_SAMPLER_SPARE_END_TOKENS } else { 0 }),
            ..Default::default()
        })
    }
}
