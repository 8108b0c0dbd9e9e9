# Completion of inlay's commands, options and named values. Made by examples/cli/make_pages.py from the tool's own help.
_inlay() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words=""
  case "$COMP_CWORD ${COMP_WORDS[1]} $before" in
    "1 "*) words="run info plan tokenize bench compare perplexity embed convert" ;;
    *" run --sampler-order") words="temperature-last temperature-first" ;;
    *" run --device") words="auto cpu cuda reference" ;;
    *" run --weights" | *" run --quantize") words="default fp8 q8_0 q4_0 q4_k_m q5_k_m q6_k" ;;
    *" run --kv") words="default f16 f32 fp8 int8" ;;
    *" info --device") words="auto cpu cuda reference" ;;
    *" info --weights" | *" info --quantize") words="default fp8 q8_0 q4_0 q4_k_m q5_k_m q6_k" ;;
    *" info --kv") words="default f16 f32 fp8 int8" ;;
    *" plan --device") words="auto cpu cuda reference" ;;
    *" plan --weights" | *" plan --quantize") words="default fp8 q8_0 q4_0 q4_k_m q5_k_m q6_k" ;;
    *" plan --kv") words="default f16 f32 fp8 int8" ;;
    *" tokenize --device") words="auto cpu cuda reference" ;;
    *" tokenize --weights" | *" tokenize --quantize") words="default fp8 q8_0 q4_0 q4_k_m q5_k_m q6_k" ;;
    *" tokenize --kv") words="default f16 f32 fp8 int8" ;;
    *" bench --device") words="auto cpu cuda reference" ;;
    *" bench --weights" | *" bench --quantize") words="default fp8 q8_0 q4_0 q4_k_m q5_k_m q6_k" ;;
    *" bench --kv") words="default f16 f32 fp8 int8" ;;
    *" compare --device-a") words="auto cpu cuda reference" ;;
    *" compare --device-b") words="auto cpu cuda reference" ;;
    *" compare --weights-a") words="default fp8 q8_0 q4_0 q4_k_m q5_k_m q6_k" ;;
    *" compare --weights-b") words="default fp8 q8_0 q4_0 q4_k_m q5_k_m q6_k" ;;
    *" perplexity --against-device") words="auto cpu cuda reference" ;;
    *" perplexity --against-weights") words="default fp8 q8_0 q4_0 q4_k_m q5_k_m q6_k" ;;
    *" perplexity --device") words="auto cpu cuda reference" ;;
    *" perplexity --weights" | *" perplexity --quantize") words="default fp8 q8_0 q4_0 q4_k_m q5_k_m q6_k" ;;
    *" perplexity --kv") words="default f16 f32 fp8 int8" ;;
    *" embed --pooling") words="default mean last first" ;;
    *" embed --device") words="auto cpu cuda reference" ;;
    *" embed --weights" | *" embed --quantize") words="default fp8 q8_0 q4_0 q4_k_m q5_k_m q6_k" ;;
    *" embed --kv") words="default f16 f32 fp8 int8" ;;
    *" convert --type") words="f16 bf16 f32 q8_0 q4_0 q4_k_m q5_k_m q6_k" ;;
    *" run "*) [[ $word == -* ]] && words="-p --prompt -f --file -n --tokens --predict --n-predict --temp --temperature --top-k --top-p --min-p --repeat-penalty --frequency-penalty --presence-penalty --repeat-last-n -l --logit-bias --typical --typical-p --top-n-sigma --top-nsigma --dynatemp-range --dynatemp-exp --xtc-probability --xtc-threshold --mirostat-ent --mirostat-lr --adaptive-target --adaptive-decay --dry-multiplier --dry-base --dry-allowed-length --dry-penalty-last-n --sampler-order --penalize-end-tokens --dry-sequence-breaker -s --seed --stop -r --reverse-prompt --stop-token -j --json-schema --json-schema-file --grammar --grammar-file --choices --no-bos --special -sys --system --system-prompt --answer --chat-template --chat-template-file --chat-template-kwargs --save-state --load-state --ignore-eos --logprobs --raw --echo -q --quiet -c --ctx --ctx-size --device --weights --quantize --kv --pre -ngl --gpu-layers --n-gpu-layers --exact-activations --tuning -t --threads -m --model -h --help" ;;
    *" info "*) [[ $word == -* ]] && words="--device --weights --quantize --kv --pre -ngl --gpu-layers --n-gpu-layers --exact-activations --tuning -t --threads -c --ctx --ctx-size --sessions --json --template -m --model -h --help" ;;
    *" plan "*) [[ $word == -* ]] && words="--json --device --weights --quantize --kv --pre -ngl --gpu-layers --n-gpu-layers --exact-activations --tuning -t --threads -m --model -h --help" ;;
    *" tokenize "*) [[ $word == -* ]] && words="-f --file --ids --json --decode --no-bos --special --device --weights --quantize --kv --pre -ngl --gpu-layers --n-gpu-layers --exact-activations --tuning -t --threads -m --model -h --help" ;;
    *" bench "*) [[ $word == -* ]] && words="--shape --quant --layers --vocab --scale --save --list -p --pp --n-prompt --pp-depths -d --depths --n-depth --batch -n --tg --n-gen --batch-prompt --batch-steps --latency --slices -r --reps --repetitions --quick --profile --timeline --trace --kv-mib --prefill-chunk --no-cublas --run-ahead --device --weights --quantize --kv --pre -ngl --gpu-layers --n-gpu-layers --exact-activations --tuning -t --threads -m --model -h --help" ;;
    *" compare "*) [[ $word == -* ]] && words="--device-a --device-b --weights-a --weights-b -p --prompt -f --file --tokens --limit -t --threads -m --model -h --help" ;;
    *" perplexity "*) [[ $word == -* ]] && words="-c --ctx --ctx-size --stride --windows --against --against-device --against-weights --special --json --device --weights --quantize --kv --pre -ngl --gpu-layers --n-gpu-layers --exact-activations --tuning -t --threads -m --model -h --help" ;;
    *" embed "*) [[ $word == -* ]] && words="-f --file --pooling --no-prompt --raw --similarity --json --device --weights --quantize --kv --pre -ngl --gpu-layers --n-gpu-layers --exact-activations --tuning -t --threads -m --model -h --help" ;;
    *" convert "*) [[ $word == -* ]] && words="--type -t --threads -m --model -h --help" ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _inlay inlay  # elsewhere: names of files
