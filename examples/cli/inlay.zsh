#compdef inlay
# Completion of inlay's commands, options and named values. Made by examples/cli/make_pages.py from the tool's own help.
local -a commands=(
  'run:write text as it is decoded; without a prompt it converses'
  'info:print a model'\''s sizes, metadata and memory plan'
  'plan:print every operation of a step with its bytes and flops'
  'tokenize:turn text into tokens, or tokens into text'
  'bench:measure prefill and decode, as one line of JSON'
  'compare:find the first operation at which two devices or two files differ'
  'perplexity:measure how well a model foresees a text, and how far it is from another'
  'embed:turn texts into vectors'
  'convert:write a model as a GGUF file of another type'
)
if (( CURRENT == 2 )); then
  _describe command commands
  return
fi
shift words
(( CURRENT-- ))
case $words[1] in
  run)
    _arguments \
      '*'-p'[the prompt]:TEXT:' \
      '*'--prompt'[the prompt]:TEXT:' \
      '*'-f'[the prompt from a file, behind that of -p on a line of its own; - is the standard input]:PATH:_files' \
      '*'--file'[the prompt from a file, behind that of -p on a line of its own; - is the standard input]:PATH:_files' \
      '*'-n'[most tokens to write (256); 0 or -1\: until the context is full]:N:' \
      '*'--tokens'[most tokens to write (256); 0 or -1\: until the context is full]:N:' \
      '*'--predict'[most tokens to write (256); 0 or -1\: until the context is full]:N:' \
      '*'--n-predict'[most tokens to write (256); 0 or -1\: until the context is full]:N:' \
      '*'--temp'[temperature (0.8); 0\: always the likeliest token]:X:' \
      '*'--temperature'[temperature (0.8); 0\: always the likeliest token]:X:' \
      '*'--top-k'[keep the N likeliest tokens (40); 0\: off]:N:' \
      '*'--top-p'[keep the likeliest tokens that reach this probability (0.95); 1\: off]:X:' \
      '*'--min-p'[drop tokens below this part of the likeliest one'\''s probability (0\: off)]:X:' \
      '*'--repeat-penalty'[make tokens less likely that are among the last ones (1\: off)]:X:' \
      '*'--frequency-penalty'[subtract this from a logit once for each time that the token is there (0\: off)]:X:' \
      '*'--presence-penalty'[subtract this if the token is there (0\: off)]:X:' \
      '*'--repeat-last-n'[the last N tokens are what penalties look at (64); -1\: all; 0\: no penalties]:N:' \
      '*'-l'[add X to the logit of a token, as 15+2; 15-inf\: never; may be given several times]:ID+X:' \
      '*'--logit-bias'[add X to the logit of a token, as 15+2; 15-inf\: never; may be given several times]:ID+X:' \
      '*'--typical'[keep the tokens of the most typical surprise that reach this probability (1\: off)]:X:' \
      '*'--typical-p'[keep the tokens of the most typical surprise that reach this probability (1\: off)]:X:' \
      '*'--top-n-sigma'[keep logits within N standard deviations of the largest (0\: off)]:X:' \
      '*'--top-nsigma'[keep logits within N standard deviations of the largest (0\: off)]:X:' \
      '*'--dynatemp-range'[let the entropy move the temperature by this much up or down (0\: off)]:X:' \
      '*'--dynatemp-exp'[power of the entropy that moves it (1)]:X:' \
      '*'--xtc-probability'[chance to exclude all top choices but the least likely (0\: off)]:X:' \
      '*'--xtc-threshold'[probability of a top choice (0.1)]:X:' \
      '*'--mirostat-ent'[Mirostat 2 in the place of other filters\: surprise to aim at, in bits (0\: off)]:X:' \
      '*'--mirostat-lr'[how fast Mirostat follows (0.1)]:X:' \
      '*'--adaptive-target'[adaptive-p\: probability of tokens to aim at (0\: off)]:X:' \
      '*'--adaptive-decay'[what adaptive-p'\''s average keeps with each token (0.9)]:X:' \
      '*'--dry-multiplier'[DRY\: how much a token loses that goes on with a repetition (0\: off)]:X:' \
      '*'--dry-base'[by what that grows with each token of the repetition (1.75)]:X:' \
      '*'--dry-allowed-length'[repetitions below this many tokens cost nothing (2)]:N:' \
      '*'--dry-penalty-last-n'[look for repetitions in the last N tokens (-1\: all)]:N:' \
      '*'--sampler-order'[the temperature behind the filters, as llama.cpp has it, or before them]:value:(temperature-last temperature-first)' \
      '*'--penalize-end-tokens'[penalties also make the tokens less likely that end an answer]' \
      '*'--dry-sequence-breaker'[no repetition reaches across this text; may be given several times]:TEXT:' \
      '*'-s'[the same seed draws the same text (one that changes)]:N:' \
      '*'--seed'[the same seed draws the same text (one that changes)]:N:' \
      '*'--stop'[end where this text would begin; may be given several times]:TEXT:' \
      '*'-r'[end where this text would begin; may be given several times]:TEXT:' \
      '*'--reverse-prompt'[end where this text would begin; may be given several times]:TEXT:' \
      '*'--stop-token'[end when this token is drawn; may be given several times]:ID:' \
      '*'-j'[write JSON of this schema, a file or the schema itself]:FILE:_files' \
      '*'--json-schema'[write JSON of this schema, a file or the schema itself]:FILE:_files' \
      '*'--json-schema-file'[write JSON of this schema, a file or the schema itself]:FILE:_files' \
      '*'--grammar'[write what this grammar in GBNF allows, a file or the grammar itself]:FILE:_files' \
      '*'--grammar-file'[write what this grammar in GBNF allows, a file or the grammar itself]:FILE:_files' \
      '*'--choices'[write one of these texts, between which commas stand]:A,B:' \
      '*'--no-bos'[leave out the BOS token that the model asks for]' \
      '*'--special'[turn control tokens written in the prompt into their ids]' \
      '*'-sys'[begin with this message of the system]:TEXT:' \
      '*'--system'[begin with this message of the system]:TEXT:' \
      '*'--system-prompt'[begin with this message of the system]:TEXT:' \
      '*'--answer'[the answer begins with this text, and the model goes on with it]:TEXT:' \
      '*'--chat-template'[a chat template in the place of the model'\''s, in Jinja]:TEXT:' \
      '*'--chat-template-file'[the same from a file]:PATH:_files' \
      '*'--chat-template-kwargs'[variables of the chat template, an object as {"enable_thinking"\:false}]:JSON:' \
      '*'--save-state'[write what the model has read and written to FILE at the end, for --load-state]:FILE:_files' \
      '*'--load-state'[go on with what --save-state wrote, of this model, which is not computed again; with --raw the text goes on from there]:FILE:_files' \
      '*'--ignore-eos'[draw end tokens like others]' \
      '*'--logprobs'[in the place of the text a line of JSON for each token\: its logarithm of probability, and the N likeliest]:N:' \
      '*'--raw'[give the model the text as it stands, without the chat template in its file]' \
      '*'--echo'[write the prompt before the text]' \
      '*'-q'[no speeds at the end]' \
      '*'--quiet'[no speeds at the end]' \
      '*'-c'[tokens of prompt and text together (the trained context, at most 4096)]:N:' \
      '*'--ctx'[tokens of prompt and text together (the trained context, at most 4096)]:N:' \
      '*'--ctx-size'[tokens of prompt and text together (the trained context, at most 4096)]:N:' \
      '*'--device'[where it runs (auto\: the fastest device that it fits on)]:value:(auto cpu cuda reference)' \
      '*'--weights'[type of the weights (the file'\''s)\: quantizes them while they are loaded]:value:(default fp8 q8_0 q4_0 q4_k_m q5_k_m q6_k)' \
      '*'--quantize'[type of the weights (the file'\''s)\: quantizes them while they are loaded]:value:(default fp8 q8_0 q4_0 q4_k_m q5_k_m q6_k)' \
      '*'--kv'[type of the KV cache (f16; on the reference interpreter f32); fp8 and int8 on GPUs]:value:(default f16 f32 fp8 int8)' \
      '*'--pre'[how byte-level BPE splits text, by the name of GGUF (the file'\''s)]:NAME:' \
      '*'-ngl'[0\: --device cpu; all, -1, 99 or more\: --device cuda]:N:' \
      '*'--gpu-layers'[0\: --device cpu; all, -1, 99 or more\: --device cuda]:N:' \
      '*'--n-gpu-layers'[0\: --device cpu; all, -1, 99 or more\: --device cuda]:N:' \
      '*'--exact-activations'[on the CPU, 16 bits for all activations that meet quantized weights, not for a third of them]' \
      '*'--tuning'[key=value pairs that change speed alone, as isa=avx2; an unknown key tells which there are]:TEXT:' \
      '*'-t'[threads that compute (all cores)]:N:' \
      '*'--threads'[threads that compute (all cores)]:N:' \
      '*'-m'[the model, in place of the first argument]:MODEL:_files' \
      '*'--model'[the model, in place of the first argument]:MODEL:_files' \
      '*'-h'[print this]' \
      '*'--help'[print this]' \
      '*: :_files' ;;
  info)
    _arguments \
      '*'--device'[where it runs (auto\: the fastest device that it fits on)]:value:(auto cpu cuda reference)' \
      '*'--weights'[type of the weights (the file'\''s)\: quantizes them while they are loaded]:value:(default fp8 q8_0 q4_0 q4_k_m q5_k_m q6_k)' \
      '*'--quantize'[type of the weights (the file'\''s)\: quantizes them while they are loaded]:value:(default fp8 q8_0 q4_0 q4_k_m q5_k_m q6_k)' \
      '*'--kv'[type of the KV cache (f16; on the reference interpreter f32); fp8 and int8 on GPUs]:value:(default f16 f32 fp8 int8)' \
      '*'--pre'[how byte-level BPE splits text, by the name of GGUF (the file'\''s)]:NAME:' \
      '*'-ngl'[0\: --device cpu; all, -1, 99 or more\: --device cuda]:N:' \
      '*'--gpu-layers'[0\: --device cpu; all, -1, 99 or more\: --device cuda]:N:' \
      '*'--n-gpu-layers'[0\: --device cpu; all, -1, 99 or more\: --device cuda]:N:' \
      '*'--exact-activations'[on the CPU, 16 bits for all activations that meet quantized weights, not for a third of them]' \
      '*'--tuning'[key=value pairs that change speed alone, as isa=avx2; an unknown key tells which there are]:TEXT:' \
      '*'-t'[threads that compute (all cores)]:N:' \
      '*'--threads'[threads that compute (all cores)]:N:' \
      '*'-c'[tokens of the longest sequence (the trained context, at most 4096)]:N:' \
      '*'--ctx'[tokens of the longest sequence (the trained context, at most 4096)]:N:' \
      '*'--ctx-size'[tokens of the longest sequence (the trained context, at most 4096)]:N:' \
      '*'--sessions'[sessions at a time (8)]:N:' \
      '*'--json'[the first part alone, as one JSON object on one line]' \
      '*'--template'[the model'\''s chat template alone, as it stands in the file]' \
      '*'-m'[the model, in place of the first argument]:MODEL:_files' \
      '*'--model'[the model, in place of the first argument]:MODEL:_files' \
      '*'-h'[print this]' \
      '*'--help'[print this]' \
      '*: :_files' ;;
  plan)
    _arguments \
      '*'--json'[print one line of JSON]' \
      '*'--device'[where it runs (auto\: the fastest device that it fits on)]:value:(auto cpu cuda reference)' \
      '*'--weights'[type of the weights (the file'\''s)\: quantizes them while they are loaded]:value:(default fp8 q8_0 q4_0 q4_k_m q5_k_m q6_k)' \
      '*'--quantize'[type of the weights (the file'\''s)\: quantizes them while they are loaded]:value:(default fp8 q8_0 q4_0 q4_k_m q5_k_m q6_k)' \
      '*'--kv'[type of the KV cache (f16; on the reference interpreter f32); fp8 and int8 on GPUs]:value:(default f16 f32 fp8 int8)' \
      '*'--pre'[how byte-level BPE splits text, by the name of GGUF (the file'\''s)]:NAME:' \
      '*'-ngl'[0\: --device cpu; all, -1, 99 or more\: --device cuda]:N:' \
      '*'--gpu-layers'[0\: --device cpu; all, -1, 99 or more\: --device cuda]:N:' \
      '*'--n-gpu-layers'[0\: --device cpu; all, -1, 99 or more\: --device cuda]:N:' \
      '*'--exact-activations'[on the CPU, 16 bits for all activations that meet quantized weights, not for a third of them]' \
      '*'--tuning'[key=value pairs that change speed alone, as isa=avx2; an unknown key tells which there are]:TEXT:' \
      '*'-t'[threads that compute (all cores)]:N:' \
      '*'--threads'[threads that compute (all cores)]:N:' \
      '*'-m'[the model, in place of the first argument]:MODEL:_files' \
      '*'--model'[the model, in place of the first argument]:MODEL:_files' \
      '*'-h'[print this]' \
      '*'--help'[print this]' \
      '*: :_files' ;;
  tokenize)
    _arguments \
      '*'-f'[take the text from a file; - is the standard input]:PATH:_files' \
      '*'--file'[take the text from a file; - is the standard input]:PATH:_files' \
      '*'--ids'[print the ids only, on one line]' \
      '*'--json'[print one line of JSON\: ids and pieces, or with --decode the text]' \
      '*'--decode'[print the text of these ids, with commas or blanks between]:IDS:' \
      '*'--no-bos'[leave out the BOS and EOS tokens that the model asks for]' \
      '*'--special'[turn control tokens written in the text into their ids, and show them in decoded text]' \
      '*'--device'[where it runs (auto\: the fastest device that it fits on)]:value:(auto cpu cuda reference)' \
      '*'--weights'[type of the weights (the file'\''s)\: quantizes them while they are loaded]:value:(default fp8 q8_0 q4_0 q4_k_m q5_k_m q6_k)' \
      '*'--quantize'[type of the weights (the file'\''s)\: quantizes them while they are loaded]:value:(default fp8 q8_0 q4_0 q4_k_m q5_k_m q6_k)' \
      '*'--kv'[type of the KV cache (f16; on the reference interpreter f32); fp8 and int8 on GPUs]:value:(default f16 f32 fp8 int8)' \
      '*'--pre'[how byte-level BPE splits text, by the name of GGUF (the file'\''s)]:NAME:' \
      '*'-ngl'[0\: --device cpu; all, -1, 99 or more\: --device cuda]:N:' \
      '*'--gpu-layers'[0\: --device cpu; all, -1, 99 or more\: --device cuda]:N:' \
      '*'--n-gpu-layers'[0\: --device cpu; all, -1, 99 or more\: --device cuda]:N:' \
      '*'--exact-activations'[on the CPU, 16 bits for all activations that meet quantized weights, not for a third of them]' \
      '*'--tuning'[key=value pairs that change speed alone, as isa=avx2; an unknown key tells which there are]:TEXT:' \
      '*'-t'[threads that compute (all cores)]:N:' \
      '*'--threads'[threads that compute (all cores)]:N:' \
      '*'-m'[the model, in place of the first argument]:MODEL:_files' \
      '*'--model'[the model, in place of the first argument]:MODEL:_files' \
      '*'-h'[print this]' \
      '*'--help'[print this]' \
      '*: :_files' ;;
  bench)
    _arguments \
      '*'--shape'[the shape of the random model; --list names them]:NAME:' \
      '*'--quant'[its quantization; --list names them]:RECIPE:' \
      '*'--layers'[another number of layers for it]:N:' \
      '*'--vocab'[another vocabulary size for it]:N:' \
      '*'--scale'[shrink its width, heads and vocabulary to about this part]:X:' \
      '*'--save'[with --shape\: write the model there and load the file]:FILE:_files' \
      '*'--list'[print the shapes and recipes, with their bytes, and end]' \
      '*'-p'[lengths of prompts (512,2048); none\: skip them]:LIST:' \
      '*'--pp'[lengths of prompts (512,2048); none\: skip them]:LIST:' \
      '*'--n-prompt'[lengths of prompts (512,2048); none\: skip them]:LIST:' \
      '*'--pp-depths'[tokens before those of pp (0)]:LIST:' \
      '*'-d'[tokens before those of tg (0,2048,8192,16384)]:LIST:' \
      '*'--depths'[tokens before those of tg (0,2048,8192,16384)]:LIST:' \
      '*'--n-depth'[tokens before those of tg (0,2048,8192,16384)]:LIST:' \
      '*'--batch'[numbers of sessions (2,4,8,16,32)]:LIST:' \
      '*'-n'[tokens of a repetition at a depth (128)]:N:' \
      '*'--tg'[tokens of a repetition at a depth (128)]:N:' \
      '*'--n-gen'[tokens of a repetition at a depth (128)]:N:' \
      '*'--batch-prompt'[tokens already in each session of a batch (128)]:N:' \
      '*'--batch-steps'[steps of a repetition of a batch (64)]:N:' \
      '*'--latency'[times this many tokens of one session one by one, drawn at random after --batch-prompt others (off)]:N:' \
      '*'--slices'[with --latency\: their steps are made of slices of this many units, which are timed, too (off)]:N:' \
      '*'-r'[repetitions (5)]:N:' \
      '*'--reps'[repetitions (5)]:N:' \
      '*'--repetitions'[repetitions (5)]:N:' \
      '*'--quick'[-r 2 --pp 128 --tg 32 --depths 0 --batch none, where not given otherwise]' \
      '*'--profile'[a table of operations instead\: one token at each of --depths (0), each of --pp (512) at each of --pp-depths in one step]' \
      '*'--timeline'[with --profile\: every operation, not only their kinds]' \
      '*'--trace'[with --profile\: a trace for chrome\://tracing or Perfetto]:FILE:_files' \
      '*'--kv-mib'[size of the KV pool in MiB (sessions x context, at most 2048)]:N:' \
      '*'--prefill-chunk'[tokens of a prompt that run at a time (512, on a GPU 1024)]:N:' \
      '*'--no-cublas'[cuda\: prompts on the engine'\''s own products, even where the machine has cuBLASLt]' \
      '*'--run-ahead'[cuda\: a step begins the next one before it returns]' \
      '*'--device'[where it runs (auto\: the fastest device that it fits on)]:value:(auto cpu cuda reference)' \
      '*'--weights'[type of the weights (the file'\''s)\: quantizes them while they are loaded]:value:(default fp8 q8_0 q4_0 q4_k_m q5_k_m q6_k)' \
      '*'--quantize'[type of the weights (the file'\''s)\: quantizes them while they are loaded]:value:(default fp8 q8_0 q4_0 q4_k_m q5_k_m q6_k)' \
      '*'--kv'[type of the KV cache (f16; on the reference interpreter f32); fp8 and int8 on GPUs]:value:(default f16 f32 fp8 int8)' \
      '*'--pre'[how byte-level BPE splits text, by the name of GGUF (the file'\''s)]:NAME:' \
      '*'-ngl'[0\: --device cpu; all, -1, 99 or more\: --device cuda]:N:' \
      '*'--gpu-layers'[0\: --device cpu; all, -1, 99 or more\: --device cuda]:N:' \
      '*'--n-gpu-layers'[0\: --device cpu; all, -1, 99 or more\: --device cuda]:N:' \
      '*'--exact-activations'[on the CPU, 16 bits for all activations that meet quantized weights, not for a third of them]' \
      '*'--tuning'[key=value pairs that change speed alone, as isa=avx2; an unknown key tells which there are]:TEXT:' \
      '*'-t'[threads that compute (all cores)]:N:' \
      '*'--threads'[threads that compute (all cores)]:N:' \
      '*'-m'[the model, in place of the first argument]:MODEL:_files' \
      '*'--model'[the model, in place of the first argument]:MODEL:_files' \
      '*'-h'[print this]' \
      '*'--help'[print this]' \
      '*: :_files' ;;
  compare)
    _arguments \
      '*'--device-a'[whose values count as right (reference; of two files\: auto)]:value:(auto cpu cuda reference)' \
      '*'--device-b'[the other device (auto)]:value:(auto cpu cuda reference)' \
      '*'--weights-a'[type of its weights (the file'\''s)]:value:(default fp8 q8_0 q4_0 q4_k_m q5_k_m q6_k)' \
      '*'--weights-b'[the other device'\''s]:value:(default fp8 q8_0 q4_0 q4_k_m q5_k_m q6_k)' \
      '*'-p'[the text to run; its last token is a step of its own]:TEXT:' \
      '*'--prompt'[the text to run; its last token is a step of its own]:TEXT:' \
      '*'-f'[the text from a file; - is the standard input]:PATH:_files' \
      '*'--file'[the text from a file; - is the standard input]:PATH:_files' \
      '*'--tokens'[token ids in its place (17 fixed ones)]:LIST:' \
      '*'--limit'[the largest NMSE that is no difference (0.001)]:X:' \
      '*'-t'[threads that compute (all cores)]:N:' \
      '*'--threads'[threads that compute (all cores)]:N:' \
      '*'-m'[the model, in place of the first argument]:MODEL:_files' \
      '*'--model'[the model, in place of the first argument]:MODEL:_files' \
      '*'-h'[print this]' \
      '*'--help'[print this]' \
      '*: :_files' ;;
  perplexity)
    _arguments \
      '*'-c'[tokens of a window (512)]:N:' \
      '*'--ctx'[tokens of a window (512)]:N:' \
      '*'--ctx-size'[tokens of a window (512)]:N:' \
      '*'--stride'[tokens from one window to the next, of which each scores its last ones as many (by default windows do not overlap and score their second half)]:N:' \
      '*'--windows'[how many windows, from the beginning of the text (all)]:N:' \
      '*'--against'[compare with this model]:MODEL_B:_files' \
      '*'--against-device'[its device (auto)]:value:(auto cpu cuda reference)' \
      '*'--against-weights'[type of its weights (the file'\''s)]:value:(default fp8 q8_0 q4_0 q4_k_m q5_k_m q6_k)' \
      '*'--special'[control tokens in the text become their ids]' \
      '*'--json'[print one line of JSON]' \
      '*'--device'[where it runs (auto\: the fastest device that it fits on)]:value:(auto cpu cuda reference)' \
      '*'--weights'[type of the weights (the file'\''s)\: quantizes them while they are loaded]:value:(default fp8 q8_0 q4_0 q4_k_m q5_k_m q6_k)' \
      '*'--quantize'[type of the weights (the file'\''s)\: quantizes them while they are loaded]:value:(default fp8 q8_0 q4_0 q4_k_m q5_k_m q6_k)' \
      '*'--kv'[type of the KV cache (f16; on the reference interpreter f32); fp8 and int8 on GPUs]:value:(default f16 f32 fp8 int8)' \
      '*'--pre'[how byte-level BPE splits text, by the name of GGUF (the file'\''s)]:NAME:' \
      '*'-ngl'[0\: --device cpu; all, -1, 99 or more\: --device cuda]:N:' \
      '*'--gpu-layers'[0\: --device cpu; all, -1, 99 or more\: --device cuda]:N:' \
      '*'--n-gpu-layers'[0\: --device cpu; all, -1, 99 or more\: --device cuda]:N:' \
      '*'--exact-activations'[on the CPU, 16 bits for all activations that meet quantized weights, not for a third of them]' \
      '*'--tuning'[key=value pairs that change speed alone, as isa=avx2; an unknown key tells which there are]:TEXT:' \
      '*'-t'[threads that compute (all cores)]:N:' \
      '*'--threads'[threads that compute (all cores)]:N:' \
      '*'-m'[the model, in place of the first argument]:MODEL:_files' \
      '*'--model'[the model, in place of the first argument]:MODEL:_files' \
      '*'-h'[print this]' \
      '*'--help'[print this]' \
      '*: :_files' ;;
  embed)
    _arguments \
      '*'-f'[take the texts from a file, one a line; - is the standard input]:PATH:_files' \
      '*'--file'[take the texts from a file, one a line; - is the standard input]:PATH:_files' \
      '*'--pooling'[how a text'\''s tokens become one vector (default\: as the model'\''s metadata say)]:value:(default mean last first)' \
      '*'--no-prompt'[texts without the model'\''s default prompt in front]' \
      '*'--raw'[do not scale to length 1]' \
      '*'--similarity'[print the cosine of each text to each instead]' \
      '*'--json'[print one line of JSON\: embeddings, or with --similarity the cosines, an array for each text]' \
      '*'--device'[where it runs (auto\: the fastest device that it fits on)]:value:(auto cpu cuda reference)' \
      '*'--weights'[type of the weights (the file'\''s)\: quantizes them while they are loaded]:value:(default fp8 q8_0 q4_0 q4_k_m q5_k_m q6_k)' \
      '*'--quantize'[type of the weights (the file'\''s)\: quantizes them while they are loaded]:value:(default fp8 q8_0 q4_0 q4_k_m q5_k_m q6_k)' \
      '*'--kv'[type of the KV cache (f16; on the reference interpreter f32); fp8 and int8 on GPUs]:value:(default f16 f32 fp8 int8)' \
      '*'--pre'[how byte-level BPE splits text, by the name of GGUF (the file'\''s)]:NAME:' \
      '*'-ngl'[0\: --device cpu; all, -1, 99 or more\: --device cuda]:N:' \
      '*'--gpu-layers'[0\: --device cpu; all, -1, 99 or more\: --device cuda]:N:' \
      '*'--n-gpu-layers'[0\: --device cpu; all, -1, 99 or more\: --device cuda]:N:' \
      '*'--exact-activations'[on the CPU, 16 bits for all activations that meet quantized weights, not for a third of them]' \
      '*'--tuning'[key=value pairs that change speed alone, as isa=avx2; an unknown key tells which there are]:TEXT:' \
      '*'-t'[threads that compute (all cores)]:N:' \
      '*'--threads'[threads that compute (all cores)]:N:' \
      '*'-m'[the model, in place of the first argument]:MODEL:_files' \
      '*'--model'[the model, in place of the first argument]:MODEL:_files' \
      '*'-h'[print this]' \
      '*'--help'[print this]' \
      '*: :_files' ;;
  convert)
    _arguments \
      '*'--type'[type of the matrices (f16)]:value:(f16 bf16 f32 q8_0 q4_0 q4_k_m q5_k_m q6_k)' \
      '*'-t'[threads that compute (all cores)]:N:' \
      '*'--threads'[threads that compute (all cores)]:N:' \
      '*'-m'[the model, in place of the first argument]:MODEL:_files' \
      '*'--model'[the model, in place of the first argument]:MODEL:_files' \
      '*'-h'[print this]' \
      '*'--help'[print this]' \
      '*: :_files' ;;
esac
