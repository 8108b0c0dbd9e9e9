package inlay

import (
	"unsafe"

	"inlay.dev/inlay/raw"
)

// LogitBias is a change of one token's logit.
type LogitBias struct {
	// Token is its id.
	Token int32 `json:"token"`
	// Bias is added to the logit; minus infinity bans the token.
	Bias float32 `json:"bias"`
}

// TokenLogprob is a token and its probability under the model, before any sampling step.
type TokenLogprob struct {
	// Token is its id.
	Token int32 `json:"token"`
	// Logprob is the natural logarithm of the probability.
	Logprob float32 `json:"logprob"`
}

// Sampler says how a token is drawn. The steps run in this order: bias and DRY, penalties, TopNSigma, temperature, TopK,
// TypicalP, TopP, MinP, XTC, draw. Its zero value is greedy.
type Sampler struct {
	// Temperature divides the logits; 0 takes the likeliest token, the lower id at a tie. Range: 0 or more.
	Temperature float32 `json:"temperature,omitempty"`
	// TopK keeps the k likeliest tokens; 0 is off. Range: 0 or more.
	TopK int `json:"top_k,omitempty"`
	// TopP keeps the likeliest tokens whose probabilities reach this sum; 0 is off. Range: 0 to 1.
	TopP float32 `json:"top_p,omitempty"`
	// MinP drops tokens less likely than this part of the likeliest one's probability; 0 is off. Range: 0 to 1.
	MinP float32 `json:"min_p,omitempty"`
	// RepetitionPenalty divides positive and multiplies negative logits of tokens in the window; 0 is off. Range: 0 or more.
	RepetitionPenalty float32 `json:"repetition_penalty,omitempty"`
	// FrequencyPenalty is subtracted once for every time that the token is in the window. Range: any number.
	FrequencyPenalty float32 `json:"frequency_penalty,omitempty"`
	// PresencePenalty is subtracted if the token is in the window. Range: any number.
	PresencePenalty float32 `json:"presence_penalty,omitempty"`
	// PenaltyWindow is how many of the last tokens the penalties look at: -1 for all, 0 for 64. Range: -1 or more.
	PenaltyWindow int `json:"penalty_window,omitempty"`
	// Logprobs is how many of the likeliest tokens events report. Range: 0 to 20.
	Logprobs int `json:"logprobs,omitempty"`
	// Seed decides the draws: same seed, stream, tokens and logits, same draw, whatever else is in the step.
	Seed uint64 `json:"seed,omitempty"`
	// Bias changes logits, each token once, at most 1024; minus infinity bans a token.
	Bias []LogitBias `json:"bias,omitempty"`
	// TypicalP keeps the tokens whose surprise is nearest to the mean surprise and whose probabilities reach this sum; 0 is
	// off. Range: 0 to 1.
	TypicalP float32 `json:"typical_p,omitempty"`
	// TopNSigma keeps logits that are at most this many standard deviations below the largest; 0 is off. Range: 0 or more.
	TopNSigma float32 `json:"top_n_sigma,omitempty"`
	// DynatempRange is how much is taken from the temperature at most where the model is sure of the next token, and added
	// where it is not; 0 is off. Range: 0 or more.
	DynatempRange float32 `json:"dynatemp_range,omitempty"`
	// DynatempExponent is the power of the entropy, from 0 to 1, that says where in that range the temperature is; 0 is 1.
	// Range: 0 or more.
	DynatempExponent float32 `json:"dynatemp_exponent,omitempty"`
	// XTCProbability is the chance with which, of the tokens that reach XTCThreshold, only the least likely stays; 0 is off.
	// Range: 0 to 1.
	XTCProbability float32 `json:"xtc_probability,omitempty"`
	// XTCThreshold is the probability that makes a token a top choice; 0 is 0.1. Range: 0 to 1.
	XTCThreshold float32 `json:"xtc_threshold,omitempty"`
	// MirostatTau is the mean surprise, in bits, of the drawn tokens that Mirostat 2 aims at. It stands in the place of
	// TopK, TypicalP, TopP, MinP and XTC; 0 is off. Range: 0 or more.
	MirostatTau float32 `json:"mirostat_tau,omitempty"`
	// MirostatEta is how much of its error Mirostat corrects with each token; 0 is 0.1. Range: 0 or more.
	MirostatEta float32 `json:"mirostat_eta,omitempty"`
	// AdaptiveTarget is what the mean of the drawn tokens' probabilities becomes with adaptive-p, which prefers tokens near
	// a probability. To be used with a filter as MinP; 0 is off. Range: 0 to 1.
	AdaptiveTarget float32 `json:"adaptive_target,omitempty"`
	// AdaptiveDecay is what that mean keeps of itself with each token; 0 is 0.9. Range: 0 to 0.99.
	AdaptiveDecay float32 `json:"adaptive_decay,omitempty"`
	// DryMultiplier turns DRY on: a token that would go on with a repetition of the sequence's end loses DryMultiplier times
	// DryBase to the power of (length of the repetition - DryAllowedLength) of its logit; 0 is off. Range: 0 or more.
	DryMultiplier float32 `json:"dry_multiplier,omitempty"`
	// DryBase is the base of that power; 0 is 1.75. Range: 1 or more.
	DryBase float32 `json:"dry_base,omitempty"`
	// DryAllowedLength is the length in tokens below which repetitions cost nothing; 0 is 2. Range: 0 or more.
	DryAllowedLength int `json:"dry_allowed_length,omitempty"`
	// DryWindow is how many of the last tokens repetitions are looked for in; 0 and -1 are all. Range: -1 or more.
	DryWindow int `json:"dry_window,omitempty"`
	// DryBreakers are texts that no repetition reaches across and whose tokens DRY leaves alone, at most 64, each of 1 to 128
	// bytes. None stands for a line feed, a colon, a quotation mark and an asterisk.
	DryBreakers []string `json:"dry_breakers,omitempty"`
	// Flags say what the sampler does otherwise.
	Flags SamplerFlags `json:"flags,omitempty"`
}

// inC copies the sampler to C's memory, because it points to the biases. The caller releases it.
func (s *Sampler) inC(op string) (*raw.SamplerParams, error) {
	n := numbers{op: op}
	values := raw.SamplerParams{
		StructSize:  uint32(unsafe.Sizeof(raw.SamplerParams{})),
		Temperature: s.Temperature, TopK: n.int32("TopK", s.TopK), TopP: s.TopP, MinP: s.MinP,
		RepetitionPenalty: s.RepetitionPenalty, FrequencyPenalty: s.FrequencyPenalty, PresencePenalty: s.PresencePenalty,
		PenaltyWindow: n.int32("PenaltyWindow", s.PenaltyWindow), NLogprobs: n.int32("Logprobs", s.Logprobs), Seed: s.Seed,
		TypicalP: s.TypicalP, TopNSigma: s.TopNSigma, DynatempRange: s.DynatempRange, DynatempExponent: s.DynatempExponent,
		XtcProbability: s.XTCProbability, XtcThreshold: s.XTCThreshold, MirostatTau: s.MirostatTau, MirostatEta: s.MirostatEta,
		AdaptiveTarget: s.AdaptiveTarget, AdaptiveDecay: s.AdaptiveDecay, DryMultiplier: s.DryMultiplier, DryBase: s.DryBase,
		DryAllowedLength: n.int32("DryAllowedLength", s.DryAllowedLength), DryWindow: n.int32("DryWindow", s.DryWindow),
		Flags: s.Flags,
	}
	if n.err != nil {
		return nil, n.err
	}
	atBias := unsafe.Sizeof(values)
	atBreakers := atBias + uintptr(len(s.Bias))*unsafe.Sizeof(raw.LogitBias{})
	memory := raw.Calloc(atBreakers + textsSize(s.DryBreakers))
	if len(s.Bias) > 0 {
		values.Bias = (*raw.LogitBias)(unsafe.Add(memory, atBias))
		values.NBias = uintptr(len(s.Bias))
		biases := unsafe.Slice(values.Bias, len(s.Bias))
		for i, bias := range s.Bias {
			biases[i] = raw.LogitBias(bias)
		}
	}
	if len(s.DryBreakers) > 0 {
		values.DryBreakers = putTexts(unsafe.Add(memory, atBreakers), s.DryBreakers)
		values.NDryBreakers = uintptr(len(s.DryBreakers))
	}
	params := (*raw.SamplerParams)(memory)
	*params = values
	return params, nil
}

// memoryInC is what a call needs, released when it has returned: C's memory, and a constraint.
type memoryInC struct {
	blocks     []unsafe.Pointer
	constraint *Constraint
}

func (m *memoryInC) keep(p unsafe.Pointer) { m.blocks = append(m.blocks, p) }

func (m *memoryInC) calloc(size uintptr) unsafe.Pointer {
	p := raw.Calloc(size)
	m.keep(p)
	return p
}

func (m *memoryInC) release() {
	for _, p := range m.blocks {
		raw.Release(p)
	}
	if m.constraint != nil {
		m.constraint.leave()
	}
	*m = memoryInC{}
}

// textsInC copies texts to C's memory. The caller releases it.
func textsInC(texts []string) *raw.Text {
	if len(texts) == 0 {
		return nil
	}
	return putTexts(raw.Calloc(textsSize(texts)), texts)
}

// textInC copies a text to C's memory.
func textInC(text string, memory *memoryInC) (*byte, uintptr) {
	p := (*byte)(memory.calloc(uintptr(len(text)) + 1))
	copy(unsafe.Slice(p, len(text)+1), text)
	return p, uintptr(len(text))
}

// tokensInC copies tokens to C's memory; of none, too, there is an address.
func tokensInC(tokens []int32, memory *memoryInC) *int32 {
	p := (*int32)(memory.calloc(uintptr(len(tokens)+1) * 4))
	copy(unsafe.Slice(p, len(tokens)+1), tokens)
	return p
}

// textsSize is how many bytes putTexts writes.
func textsSize(texts []string) uintptr {
	size := uintptr(len(texts)) * unsafe.Sizeof(raw.Text{})
	for _, text := range texts {
		size += uintptr(len(text)) + 1
	}
	return size
}

// putTexts writes an array of raw.Text, then the bytes.
func putTexts(memory unsafe.Pointer, texts []string) *raw.Text {
	at := uintptr(len(texts)) * unsafe.Sizeof(raw.Text{})
	for i := range texts {
		entry := (*raw.Text)(unsafe.Add(memory, uintptr(i)*unsafe.Sizeof(raw.Text{})))
		entry.Data = (*byte)(unsafe.Add(memory, at))
		entry.Len = uintptr(len(texts[i]))
		copy(unsafe.Slice(entry.Data, len(texts[i])+1), texts[i])
		at += uintptr(len(texts[i])) + 1
	}
	return (*raw.Text)(memory)
}
