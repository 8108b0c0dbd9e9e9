"""The templates of templates/, all written for this project: what each imitates and the variables it gets.

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
