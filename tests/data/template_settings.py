"""The templates of templates/, all written for this project: what each imitates and the variables it gets. Those of models.

"variables": in every case; "variants": further ones, in a case each of the conversations marked "vary";
"without": conversations that would add nothing here.
"""

BOTH = {"bos_token": "<s>", "eos_token": "</s>"}
TOOL_CALLS = ["tool-call-null-content", "tool-call-string-args", "tool-calls-sequence", "tool-call-text-content",
              "tools-no-args", "tools-empty-list", "tool-call-deep"]
THOUGHTS = ["thinking-inline-history", "thinking-field-history", "thinking-ends", "thinking-with-tool",
            "think-switch-in-text"]

TEMPLATES = {
    "plain-roles": {
        "manner": "roles between markers, a BOS in front and an EOS behind answers", "variables": BOTH,
        "without": ["tools", "tools-deep", "tools-system", "documents", "documents-empty", *TOOL_CALLS, *THOUGHTS]},
    "folded-system": {
        "manner": "system text in the first user turn; roles must alternate", "variables": BOTH,
        "without": ["tools", "tools-deep", "tools-system", "documents", "documents-empty", *TOOL_CALLS, *THOUGHTS]},
    "bracket-turns": {
        "manner": "turns in brackets; tools before the last user turn; ids of calls are checked", "variables": BOTH,
        "without": ["documents", "documents-empty", "image-part", *THOUGHTS]},
    "tool-definitions": {
        "manner": "tool definitions as indented JSON, in the system's or the user's turn; a date", "variables": BOTH,
        "variants": [{"date_string": "04 Mar 2025", "tools_in_user_message": False},
                     {"builtin_tools": ["search", "code", "get_weather"]}],
        "without": ["documents", "documents-empty", *THOUGHTS]},
    "tagged-tools": {
        "manner": "tools, calls and results in tags; results of one turn together",
        "without": ["documents", "documents-empty", *THOUGHTS]},
    "reasoning": {
        "manner": "reasoning split off at its marker and dropped from older turns; a switch in texts",
        "variants": [{"enable_thinking": False}],
        "without": ["documents", "documents-empty", "tools-deep", "tools"]},
    "typed-functions": {
        "manner": "types of JSON schemas by a recursive macro; channels; call blocks",
        "variants": [{"reasoning_effort": "high", "builtin_tools": ["browser", "python"], "model_identity": "I am M."}],
        "without": ["documents", "documents-empty", "multi-turn-no-system"]},
    "documents": {
        "manner": "documents and controls; dates in words",
        "variants": [{"controls": {"length": "short", "citations": "on"}}],
        "without": [*THOUGHTS, "tool-calls-parallel", "tool-calls-sequence", "tool-call-dict"]},
    "content-parts": {
        "manner": "content as lists of texts, images and sounds", "variants": [{"add_vision_id": True}],
        "without": ["documents", "documents-empty", "tools", "tools-system", *THOUGHTS]},
    "loops-and-blocks": {
        "manner": "generation tags, loop controls, call, filter, with and set blocks, recursion",
        "without": ["documents", "documents-empty", *THOUGHTS]},
    "whitespace": {
        "manner": "whitespace control of every kind", "variables": BOTH,
        "without": ["documents", "documents-empty", *THOUGHTS, "tools", "tools-deep", "tools-system"]},
}

# Templates of models, which are not in this repository: README.md says where they come from. "file": the name there;
# "no_tools": what stands for tools if a conversation has none.
MODELS = {
    "llama-3.1": {"file": "meta-llama-Llama-3.1-8B-Instruct.jinja",
        "variables": {"bos_token": "<|begin_of_text|>", "eos_token": "<|eot_id|>"},
        "variants": [{"date_string": "04 Mar 2025"}, {"tools_in_user_message": False}, {"builtin_tools": ["brave_search", "code_interpreter"]}]},
    "llama-3.2": {"file": "meta-llama-Llama-3.2-3B-Instruct.jinja",
        "variables": {"bos_token": "<|begin_of_text|>", "eos_token": "<|eot_id|>"},
        "variants": [{"date_string": "04 Mar 2025"}, {"tools_in_user_message": False}]},
    "qwen2.5": {"file": "Qwen-Qwen2.5-7B-Instruct.jinja",
        "variables": {"eos_token": "<|im_end|>"}},
    "qwen3": {"file": "Qwen-Qwen3-0.6B.jinja",
        "variables": {"eos_token": "<|im_end|>"},
        "variants": [{"enable_thinking": False}, {"enable_thinking": True}]},
    "gemma-2": {"file": "google-gemma-2-2b-it.jinja",
        "variables": {"bos_token": "<bos>", "eos_token": "<eos>"}},
    "phi-3.5": {"file": "microsoft-Phi-3.5-mini-instruct.jinja",
        "variables": {"bos_token": "<s>", "eos_token": "<|endoftext|>"}},
    "mistral-nemo": {"file": "mistralai-Mistral-Nemo-Instruct-2407.jinja",
        "variables": {"bos_token": "<s>", "eos_token": "</s>"}},
    "mistral-small-3.2": {"file": "Mistral-Small-3.2-24B-Instruct-2506.jinja",
        "variables": {"bos_token": "<s>", "eos_token": "</s>"}},
    "deepseek-r1-distill-qwen": {"file": "deepseek-ai-DeepSeek-R1-Distill-Qwen-32B.jinja",
        "variables": {"bos_token": "<｜begin▁of▁sentence｜>", "eos_token": "<｜end▁of▁sentence｜>"}},
    "deepseek-v3.1": {"file": "deepseek-ai-DeepSeek-V3.1.jinja",
        "variables": {"bos_token": "<｜begin▁of▁sentence｜>", "eos_token": "<｜end▁of▁sentence｜>"},
        "variants": [{"thinking": True}, {"enable_thinking": False}]},
    "hermes-2-pro-tool-use": {"file": "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use.jinja",
        "variables": {"bos_token": "<|begin_of_text|>", "eos_token": "<|im_end|>"}, "no_tools": []},
    "granite-3.3": {"file": "ibm-granite-granite-3.3-2B-Instruct.jinja",
        "variables": {"bos_token": "<|end_of_text|>", "eos_token": "<|end_of_text|>"},
        "variants": [{"thinking": True}, {"controls": {"length": "short", "originality": "abstractive"}}]},
    "smollm3": {"file": "HuggingFaceTB-SmolLM3-3B.jinja",
        "variables": {"bos_token": "<|begin_of_text|>", "eos_token": "<|im_end|>"},
        "variants": [{"enable_thinking": False}, {"enable_thinking": True}]},
    "gpt-oss": {"file": "openai-gpt-oss-120b.jinja",
        "variables": {"bos_token": "<|startoftext|>", "eos_token": "<|return|>"},
        "variants": [{"reasoning_effort": "high"}, {"builtin_tools": ["browser", "python"]}, {"model_identity": "You are Inlay."}]},
    "glm-4.6": {"file": "GLM-4.6.jinja",
        "variables": {"eos_token": "<|endoftext|>"},
        "variants": [{"enable_thinking": False}, {"enable_thinking": True}]},
    "lfm2": {"file": "LFM2-8B-A1B.jinja",
        "variables": {"bos_token": "<|startoftext|>", "eos_token": "<|im_end|>"}},
}
