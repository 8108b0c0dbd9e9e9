"""The grammar behind the tales corpus: words, a template language, tale schemas and dialogues."""
