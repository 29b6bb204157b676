"""The names of variables with secrets that a change mentions.

Whoever knows which variables are planted by default takes another one.

Read from the text of the changed files, in whatever language: a name that ends as secrets' names do. A name
that is planted and that nobody asks for changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from gate.model.change import ChangedFile, Tree

_NAME: Final = re.compile(
    rb"\b(?:[A-Z][A-Z0-9]*_)*(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|PAT|APIKEY"
    rb"|(?:API|SECRET|AUTH|ACCESS|DEPLOY|WEBHOOK|MASTER)_KEY)\b"
)
_ASKED: Final = re.compile(
    rb"environ|getenv|process\.env|\$\{?[A-Z]|ENV\[|Deno\.env|import\.meta\.env|env::var"
)
"""Somewhere the file asks for variables, or it may be given their names."""
_MOST: Final = 24


def named_secrets(files: Iterable[ChangedFile], head: Tree) -> tuple[str, ...]:
    """Names in the order of the text, at most 24."""
    paths = tuple(file.path for file in files if file.new_blob and not file.binary)
    return tuple(dict.fromkeys(_names(text for _, text in head.read_many(paths))))[:_MOST]


def _names(texts: Iterable[bytes]) -> Iterator[str]:
    for text in texts:
        if _ASKED.search(text):
            yield from (match[0].decode() for match in _NAME.finditer(text))
