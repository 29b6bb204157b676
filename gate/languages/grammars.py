"""Which grammar reads a file, by its ending."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Final

_GRAMMARS: Final = {
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx"), "javascript"),
    **dict.fromkeys((".ts", ".mts", ".cts"), "typescript"),
    ".tsx": "tsx",
    ".go": "tree_sitter_go",
    **dict.fromkeys((".tf", ".tofu", ".hcl", ".tfvars"), "tree_sitter_hcl"),
    **dict.fromkeys(
        (".html", ".htm", ".xhtml", ".vue", ".svelte", ".jinja", ".jinja2", ".j2"), "tree_sitter_html"
    ),
    **dict.fromkeys((".sh", ".bash"), "bash"),
    ".java": "tree_sitter_java",
    **dict.fromkeys((".kt", ".kts"), "tree_sitter_kotlin"),
    ".cs": "tree_sitter_c_sharp",
    ".rb": "tree_sitter_ruby",
    ".php": "tree_sitter_php:language_php",
    ".rs": "tree_sitter_rust",
}
_OTHERS: Final = {
    ".py": "tree_sitter_python", ".pyw": "tree_sitter_python", ".lua": "tree_sitter_lua",
    ".ex": "tree_sitter_elixir", ".exs": "tree_sitter_elixir", ".swift": "tree_sitter_swift",
    ".scala": "tree_sitter_scala", ".c": "tree_sitter_c", ".cc": "tree_sitter_cpp", ".cpp": "tree_sitter_cpp",
}  # fmt: skip
_NO_PROGRAMS: Final = ("tree_sitter_hcl", "tree_sitter_html", "bash")


def grammar_of(path: str) -> str:
    """The grammar of a file by its ending; empty where there is none."""
    return _GRAMMARS.get(PurePosixPath(path).suffix.lower(), "")


def is_read(path: str) -> str:
    """The grammar of a program's path; empty for what is none."""
    suffix = path[path.rfind(".") :].lower() if "." in path else ""
    grammar = _OTHERS.get(suffix) or grammar_of(path)
    return "" if grammar in _NO_PROGRAMS else grammar
