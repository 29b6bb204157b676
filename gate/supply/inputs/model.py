"""The values that every reader of this package makes: what is taken, from where, held by which hashes."""

from __future__ import annotations

from typing import Final, Literal

from gate.dataclass import dataclass

SourceKind = Literal["registry", "url", "path", "vcs"]
FileKind = Literal["lock", "manifest", "settings", "images", "repositories", "tools", "pipelines"]
MOST: Final = 20_000
"""Inputs of one file; more is refused."""


class UnreadableInputError(ValueError):
    """The text is not what its name says, or two parsers would read it differently (``ambiguous``).

    The message is ours and quotes nothing.
    """

    def __init__(self, message: str, *, ambiguous: bool = False) -> None:
        super().__init__(message)
        self.ambiguous = ambiguous


@dataclass(frozen=True, kw_only=True, slots=True)
class Archive:
    """One file that an input may be installed from. ``name`` is the file's, ``where`` its address; each is
    empty where the lock does not tell. ``digest`` is ``algorithm:value``.
    """

    name: str = ""
    where: str = ""
    digest: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Input:
    """One thing taken from elsewhere. ``name`` is what the project calls it, ``actual`` what the source calls
    it where that differs (an alias). ``where`` is the registry, address, folder or repository; empty for the
    registry of the settings. ``version`` is the exact one of a lock, else what is asked for. ``revision`` is
    a commit, a tag or a branch of a repository. ``needs`` are names that it depends on; ``runs`` says that
    code of it runs when it is installed, ``credentialed`` that it runs where a pipeline's credentials are.
    ``claimed`` is the package that a table of the project says needs it.
    """

    name: str
    kind: SourceKind = "registry"
    where: str = ""
    version: str = ""
    revision: str = ""
    actual: str = ""
    archives: tuple[Archive, ...] = ()
    needs: tuple[str, ...] = ()
    runs: bool = False
    credentialed: bool = False
    claimed: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Inputs:
    """What one file says. ``asked``: names that the project itself asks for, where a lock tells them.
    ``tells_runs``: it says which packages run code at installation. ``refused``: why nothing could be read,
    ``ambiguous`` where parsers differ about the text.
    """

    kind: FileKind = "lock"
    inputs: tuple[Input, ...] = ()
    asked: tuple[str, ...] = ()
    tells_runs: bool = False
    refused: str = ""
    ambiguous: bool = False
