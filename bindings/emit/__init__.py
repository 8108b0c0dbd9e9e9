"""One module for each generated form. Each has emit(api) -> text."""
