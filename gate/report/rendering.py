"""Templates in which every text is escaped for its sink unless a filter of ours has already done so."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from gate import escape as textsafe

_TEMPLATES: Final = Path(__file__).parent / "templates"


def _finalizer(escape: Callable[[str], str]) -> Callable[[object], object]:
    def finalize(value: object) -> object:
        if isinstance(value, Markup):
            return value
        if isinstance(value, str):
            return Markup(escape(value))  # noqa: S704 - escaped for this sink right here
        if isinstance(value, int):
            return value
        raise TypeError(f"a template may print text and whole numbers only, got {type(value).__name__}")

    return finalize


def _environment(escape: Callable[[str], str]) -> Environment:
    return Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        finalize=_finalizer(escape),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _safe(function: Callable[..., str]) -> Callable[..., Markup]:
    def call(*args: object, **options: object) -> Markup:
        return Markup(function(*args, **options))  # noqa: S704 - an escape of gate.escape

    return call


@cache
def markdown_environment() -> Environment:
    """Prints text as Markdown text; filters ``code``, ``cell``, ``block``."""
    made = _environment(lambda text: textsafe.markdown(text, 240))
    made.filters["code"] = _safe(textsafe.markdown_code)
    made.filters["cell"] = _safe(lambda text: textsafe.markdown_code(text, 160, cell=True))
    made.filters["block"] = _safe(textsafe.markdown_block)
    made.filters["path"] = _safe(lambda text: textsafe.markdown_code(textsafe.display_path(text)))
    return made


@cache
def html_environment() -> Environment:
    """Prints text as HTML; filter ``path`` for file names."""
    made = _environment(textsafe.html)
    made.filters["path"] = _safe(lambda text: textsafe.html(textsafe.display_path(text)))
    return made
