package inlay

import (
	"regexp"
	"strings"
)

// fieldNames are what the fields and arguments of C, which the library's messages name, are called in Go. A struct's size, its
// reserved fields, the pointers that belong to callbacks, and a constraint's kind and text, which come from one field, are this
// package's matter: none of its calls gets them wrong.
type fieldNames map[string]string

var loadNames = fieldNames{
	"device":                  "Device",
	"device_index":            "DeviceIndex",
	"n_context":               "Context",
	"max_sessions":            "MaxSessions",
	"n_threads":               "Threads",
	"kv_budget_bytes":         "KVBudget",
	"prefix_cache_host_bytes": "PrefixCacheHost",
	"kv_dtype":                "KVDtype",
	"weight_dtype":            "WeightDtype",
	"pre_tokenizer":           "PreTokenizer",
	"pre_tokenizer_len":       "len(PreTokenizer)",
	"tuning":                  "Tuning",
	"tuning_len":              "len(Tuning)",
	"prefill_chunk":           "PrefillChunk",
	"log_level":               "LogLevel",
	"flags":                   "Flags",
	"log":                     "Logger",
	"progress":                "Progress",
}

var samplerNames = fieldNames{
	"temperature":        "Temperature",
	"top_k":              "TopK",
	"top_p":              "TopP",
	"min_p":              "MinP",
	"repetition_penalty": "RepetitionPenalty",
	"frequency_penalty":  "FrequencyPenalty",
	"presence_penalty":   "PresencePenalty",
	"penalty_window":     "PenaltyWindow",
	"n_logprobs":         "Logprobs",
	"seed":               "Seed",
	"bias":               "Bias",
	"n_bias":             "len(Bias)",
	"typical_p":          "TypicalP",
	"top_n_sigma":        "TopNSigma",
	"dynatemp_range":     "DynatempRange",
	"dynatemp_exponent":  "DynatempExponent",
	"xtc_probability":    "XTCProbability",
	"xtc_threshold":      "XTCThreshold",
	"mirostat_tau":       "MirostatTau",
	"mirostat_eta":       "MirostatEta",
	"adaptive_target":    "AdaptiveTarget",
	"adaptive_decay":     "AdaptiveDecay",
	"dry_multiplier":     "DryMultiplier",
	"dry_base":           "DryBase",
	"dry_allowed_length": "DryAllowedLength",
	"dry_window":         "DryWindow",
	"dry_breakers":       "DryBreakers",
	"n_dry_breakers":     "len(DryBreakers)",
	"flags":              "Flags",
}

var sessionNames = fieldNames{
	"flags":         "Flags",
	"sampler":       "Sampler",
	"stream":        "Stream",
	"max_tokens":    "MaxTokens",
	"stop_tokens":   "StopTokens",
	"n_stop_tokens": "len(StopTokens)",
	"stops":         "Stop",
	"n_stops":       "len(Stop)",
	"constraint":    "Constraint",
}

var profileNames = fieldNames{"n_tokens": "Tokens", "n_past": "Past", "n_repetitions": "Repetitions"}

var convertNames = fieldNames{"type": "convertType", "n_threads": "Threads", "progress": "Progress", "log": "Log"}

var chatNames = fieldNames{"flags": "flags", "chat_template": "template", "template_len": "len(template)"}

var embedNames = fieldNames{"pooling": "pooling", "flags": "flags", "progress": "ctx", "inputs": "texts", "n_inputs": "len(texts)"}

var scoreNames = fieldNames{"n_given": "Given", "n_logprobs": "Logprobs", "progress": "Progress"}

var queueNames = fieldNames{"max_requests": "MaxRequests", "max_unread_tokens": "MaxUnreadTokens", "wake": "Wake"}

var requestNames = fieldNames{
	"tokens":           "Tokens",
	"n_tokens":         "len(Tokens)",
	"text":             "Text",
	"text_len":         "len(Text)",
	"conversation":     "Conversation",
	"conversation_len": "len(Conversation)",
	"chat":             "Chat",
	"session_params":   "Session",
	"priority":         "Priority",
	"deadline_us":      "Deadline",
	"timeout_us":       "Timeout",
	"continues":        "Continues",
	"user":             "User",
	"embed":            "Embed",
	"cache_salt":       "CacheSalt",
	"pooling":          "Pooling",
	"chat_template":    "Template",
	"template_len":     "len(Template)",
}

var runNames = fieldNames{"flags": "Flags", "budget_us": "Budget", "max_step_us": "MaxStep", "host_budget_us": "HostBudget"}

var threadNames = fieldNames{"busy_us": "Busy", "period_us": "Period", "max_step_us": "MaxStep"}

var constraintNames = fieldNames{
	"flags":         "Flags",
	"choices":       "Choices",
	"n_choices":     "len(Choices)",
	"prompt":        "Prompt",
	"n_prompt":      "len(Prompt)",
	"format":        "Format",
	"format_len":    "len(Format)",
	"chat_template": "ChatTemplate",
	"template_len":  "len(ChatTemplate)",
}

var messageNames = fieldNames{
	"flags":         "Flags",
	"format":        "Format",
	"format_len":    "len(Format)",
	"chat_template": "ChatTemplate",
	"template_len":  "len(ChatTemplate)",
	"tools":         "Tools",
	"tools_len":     "len(Tools)",
	"prompt":        "Prompt",
	"n_prompt":      "len(Prompt)",
}

// namesOf are those of each call that takes anything of which a message can say that it is wrong, by its name in errors.
var namesOf = map[string]fieldNames{
	"load":            loadNames,
	"memory plan":     loadNames,
	"explain":         loadNames,
	"convert":         convertNames,
	"new session":     sessionNames.with(samplerNames),
	"set sampler":     samplerNames,
	"set stop":        {"n_stops": "len(texts)"},
	"set stop tokens": {"n_tokens": "len(tokens)"},
	"set max tokens":  {"max_tokens": "n"},
	"truncate":        {"n_tokens": "n"},
	"shift":           {"n_tokens": "n"},
	"decode step":     {"n_sessions": "len(sessions)", "max_sessions": "MaxSessions"},
	"decode slice":    {"n_sessions": "len(sessions)", "max_sessions": "MaxSessions", "max_units": "maxUnits"},
	"profile":         profileNames,
	"compare":         {"nmse_limit": "nmseLimit"},
	"chat text":       chatNames,
	"chat tokens":     chatNames,
	"embed":           embedNames,
	"score":           scoreNames,
	"new queue":       queueNames,
	"submit":          requestNames.with(sessionNames).with(samplerNames),
	"run":             runNames,
	"set thread":      threadNames,
	"new constraint":  constraintNames,

	"new message parser": messageNames,
	"chat format":        messageNames,
}

// with has the others' names, too; its own go first.
func (names fieldNames) with(others fieldNames) fieldNames {
	all := fieldNames{}
	for _, some := range []fieldNames{others, names} {
		for field, name := range some {
			all[field] = name
		}
	}
	return all
}

// A field stands behind the name of its struct; at the beginning, before a verb; and behind words that lead to one if it can be no
// word of English. Words elsewhere, such as paths and keys of a file, are none.
var (
	behindStruct = regexp.MustCompile(`(^|[ (])(params\.|sampler\.|request\.|the load's )(?:(session_params|chat|embed)\.)?(\w+)`)
	atBeginning  = regexp.MustCompile(`^(\w+)( is | has | of token | names token | \+ |\[)`)
	behindWords  = regexp.MustCompile(`( \+ | and | the )(\w+)`)
)

// fieldOf is the name of a field of a struct that is a field itself.
func fieldOf(field, name string) string {
	if strings.HasPrefix(name, "len(") {
		return "len(" + field + "." + name[len("len("):]
	}
	return field + "." + name
}

// inGo is a message of the library with Go's names.
func (names fieldNames) inGo(message string) string {
	replace := func(pattern *regexp.Regexp, change func(parts []string) (string, bool)) {
		message = pattern.ReplaceAllStringFunc(message, func(found string) string {
			if changed, ok := change(pattern.FindStringSubmatch(found)); ok {
				return changed
			}
			return found
		})
	}
	replace(behindStruct, func(parts []string) (string, bool) {
		name, ok := names[parts[4]]
		if inside := names[parts[3]]; inside != "" {
			name = fieldOf(inside, name)
		}
		if parts[2] == "the load's " {
			return parts[1] + parts[2] + name, ok
		}
		return parts[1] + name, ok
	})
	replace(atBeginning, func(parts []string) (string, bool) {
		name, ok := names[parts[1]]
		return name + parts[2], ok
	})
	replace(behindWords, func(parts []string) (string, bool) {
		name, ok := names[parts[2]]
		return parts[1] + name, ok && strings.Contains(parts[2], "_")
	})
	return message
}
