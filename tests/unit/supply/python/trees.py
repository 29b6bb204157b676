"""Trees of dictionaries, for tests of what only reads."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from gate.model.change import TreeEntry


class DictTree:
    """Path → text. Implements model.change.Tree as far as reading goes."""

    def __init__(self, files: dict[str, str]) -> None:
        self.files = {path: text.encode() for path, text in files.items()}

    def entries(self) -> tuple[TreeEntry, ...]:
        return tuple(
            TreeEntry(path=path, mode="100644", blob=hashlib.sha1(data).hexdigest(), size=len(data))
            for path, data in sorted(self.files.items())
        )

    def read(self, path: str) -> bytes:
        return self.files[path]

    def read_many(self, paths: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
        return ((path, self.files[path]) for path in paths if path in self.files)

    def archive(self) -> Iterator[bytes]:
        raise NotImplementedError
