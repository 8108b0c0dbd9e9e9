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

// Sampler says how a token is drawn. The steps run in this order: bias, penalties, temperature, TopK, TopP, MinP, draw.
// Its zero value is greedy.
type Sampler struct {
	// Temperature divides the logits; 0 takes the likeliest token, the lower id at a tie.
	Temperature float32 `json:"temperature,omitempty"`
	// TopK keeps the k likeliest tokens; 0 is off.
	TopK int `json:"top_k,omitempty"`
	// TopP keeps the likeliest tokens whose probabilities reach this sum; 0 is off.
	TopP float32 `json:"top_p,omitempty"`
	// MinP drops tokens less likely than this part of the likeliest one's probability; 0 is off.
	MinP float32 `json:"min_p,omitempty"`
	// RepetitionPenalty divides positive and multiplies negative logits of tokens in the window; 0 is off.
	RepetitionPenalty float32 `json:"repetition_penalty,omitempty"`
	// FrequencyPenalty is subtracted once for every time that the token is in the window.
	FrequencyPenalty float32 `json:"frequency_penalty,omitempty"`
	// PresencePenalty is subtracted if the token is in the window.
	PresencePenalty float32 `json:"presence_penalty,omitempty"`
	// PenaltyWindow is how many of the last tokens the penalties look at: -1 for all, 0 for 64.
	PenaltyWindow int `json:"penalty_window,omitempty"`
	// Logprobs is how many of the likeliest tokens events report, at most 20.
	Logprobs int `json:"logprobs,omitempty"`
	// Seed decides the draws: same seed, stream and tokens, same draw, whatever else is in the batch.
	Seed uint64 `json:"seed,omitempty"`
	// Bias changes logits, each token once; minus infinity bans a token.
	Bias []LogitBias `json:"bias,omitempty"`
}

// inC copies the sampler to C's memory, because it points to the biases. The caller releases it.
func (s *Sampler) inC(op string) (*raw.SamplerParams, error) {
	n := numbers{op: op}
	values := raw.SamplerParams{
		StructSize:  uint32(unsafe.Sizeof(raw.SamplerParams{})),
		Temperature: s.Temperature, TopK: n.int32("TopK", s.TopK), TopP: s.TopP, MinP: s.MinP,
		RepetitionPenalty: s.RepetitionPenalty, FrequencyPenalty: s.FrequencyPenalty, PresencePenalty: s.PresencePenalty,
		PenaltyWindow: n.int32("PenaltyWindow", s.PenaltyWindow), NLogprobs: n.int32("Logprobs", s.Logprobs), Seed: s.Seed,
	}
	if n.err != nil {
		return nil, n.err
	}
	size := unsafe.Sizeof(values)
	memory := raw.Calloc(size + uintptr(len(s.Bias))*unsafe.Sizeof(raw.LogitBias{}))
	if len(s.Bias) > 0 {
		values.Bias = (*raw.LogitBias)(unsafe.Add(memory, size))
		values.NBias = uintptr(len(s.Bias))
		biases := unsafe.Slice(values.Bias, len(s.Bias))
		for i, bias := range s.Bias {
			biases[i] = raw.LogitBias(bias)
		}
	}
	params := (*raw.SamplerParams)(memory)
	*params = values
	return params, nil
}

// textsInC copies texts to C's memory: an array of raw.Text, then the bytes. The caller releases it.
func textsInC(texts []string) *raw.Text {
	if len(texts) == 0 {
		return nil
	}
	size := uintptr(len(texts)) * unsafe.Sizeof(raw.Text{})
	total := size
	for _, text := range texts {
		total += uintptr(len(text)) + 1
	}
	memory := raw.Calloc(total)
	at := size
	for i := range texts {
		entry := (*raw.Text)(unsafe.Add(memory, uintptr(i)*unsafe.Sizeof(raw.Text{})))
		entry.Data = (*byte)(unsafe.Add(memory, at))
		entry.Len = uintptr(len(texts[i]))
		copy(unsafe.Slice(entry.Data, len(texts[i])+1), texts[i])
		at += uintptr(len(texts[i])) + 1
	}
	return (*raw.Text)(memory)
}
