"""The base commit's own files, read through the API: settings and standing overrides, no checkout."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Literal

import msgspec

from gate.github.interface import Api, MissingError, UnreachableError, path, repository
from gate.model.change import TreeEntry


class _Content(msgspec.Struct):
    type: Literal["file"]
    encoding: Literal["base64"]
    content: str
    size: int


class ApiTree:
    """Small files of one commit of a repository, as a Tree. Nothing but ``read`` is offered."""

    def __init__(self, api: Api, repo: str, commit: str) -> None:
        self._api, self._repo, self._commit = api, repo, commit
        self._known: dict[str, bytes | None] = {}

    def read(self, path: str) -> bytes:
        """The file's bytes; KeyError where there is none. Raises the forge's errors."""
        if path not in self._known:
            self._known[path] = self._fetch(path)
        found = self._known[path]
        if found is None:
            raise KeyError(path)
        return found

    def _fetch(self, name: str) -> bytes | None:
        where = path("repos", *repository(self._repo), "contents", name)
        try:
            got = self._api.get(where, _Content, {"ref": self._commit})
        except MissingError:
            return None
        try:
            raw = base64.b64decode(got.content)
        except binascii.Error as error:
            raise UnreachableError(f"GitHub's answer about {name} is not base64") from error
        if len(raw) != got.size:
            raise UnreachableError(f"GitHub sent {len(raw)} of {got.size} bytes of {name}")
        return raw

    def entries(self) -> tuple[TreeEntry, ...]:
        """Not offered."""
        raise NotImplementedError("only single files are read through the API")

    def read_many(self, paths: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
        """Not offered."""
        raise NotImplementedError("only single files are read through the API")

    def archive(self) -> Iterator[bytes]:
        """Not offered."""
        raise NotImplementedError("only single files are read through the API")
