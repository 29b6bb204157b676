"""requirements*.txt and constraints*.txt as inputs: exact versions with their hashes, and addresses."""

from __future__ import annotations

from typing import Final

from gate.supply.inputs.model import Archive, Input, Inputs, SourceKind
from gate.supply.inputs.python_locks import requirement_name

_VCS: Final = ("git+", "hg+", "svn+", "bzr+")
_ADDRESS: Final = (*_VCS, "https://", "http://", "file:")


def read(text: str) -> Inputs:
    """One list. Options of pip and further lists are other readers' business."""
    found = [one for line in _logical(text) if (one := requirement(line))]
    exact = any(one.version.startswith("==") for one in found)
    return Inputs(kind="lock" if exact else "manifest", inputs=tuple(found))


def _logical(text: str) -> list[str]:
    """Lines with continuations joined and comments cut off, as pip does."""
    lines: list[str] = []
    open_line = ""
    for raw in text.splitlines():
        bare = raw if not raw.lstrip().startswith("#") else ""
        if bare.endswith("\\"):
            open_line += bare[:-1] + " "
            continue
        line = (open_line + bare).strip()
        open_line = ""
        at = next((n for n in range(len(line)) if line[n] == "#" and (n == 0 or line[n - 1].isspace())), -1)
        lines.append(line[:at].strip() if at >= 0 else line)
    return [line for line in [*lines, open_line.strip()] if line]


def requirement(line: str) -> Input | None:
    """One requirement line; None for an option of pip and for what is none."""
    words = line.split()
    digests = tuple(
        Archive(digest=word.removeprefix("--hash=")) for word in words if word.startswith("--hash=")
    )
    bare = " ".join(word for word in words if not word.startswith("--hash="))
    for option in ("-e ", "--editable ", "--editable="):
        bare = bare.removeprefix(option).strip()
    if bare.startswith("-"):
        return None
    front, at, address = bare.partition("@")
    name = requirement_name(front)
    if bare.lower().startswith(_ADDRESS):
        return _direct(_egg(bare), bare, digests)
    if at and name and address.strip().lower().startswith(_ADDRESS):
        return _direct(name, address.strip().partition(" ;")[0], digests)
    if bare.startswith((".", "/")):
        return Input(name=bare, kind="path", where=bare.partition("[")[0])
    name = requirement_name(bare)
    if not name:
        return None
    version = bare.partition(";")[0].strip()[len(name) :].partition("]")
    asked = (version[2] if version[1] else version[0]).replace(" ", "")
    return Input(name=name, version=asked.lstrip("-_."), archives=digests)


def _egg(address: str) -> str:
    """The name that the address tells in its fragment, else its last part."""
    base, _, fragment = address.partition("#")
    for part in fragment.split("&"):
        if part.startswith("egg="):
            return requirement_name(part.removeprefix("egg="))
    last = base.rstrip("/").rpartition("/")[2].partition("@")[0]
    return requirement_name(last.removesuffix(".git")) or last


def _direct(name: str, address: str, digests: tuple[Archive, ...]) -> Input:
    base, _, fragment = address.partition("#")
    kind: SourceKind = "vcs" if base.startswith(_VCS) else "path" if base.startswith("file:") else "url"
    where, at, revision = (
        base.rpartition("@") if kind == "vcs" and "@" in base.partition("://")[2] else (base, "", "")
    )
    if not at or ("/" in revision and where.endswith("//git")):  # ssh://git@host: a user, no revision
        where, revision = base, ""
    for part in fragment.split("&"):
        if part.partition("=")[0] in ("sha256", "sha384", "sha512", "sha1", "md5"):
            digests = (*digests, Archive(digest=part.replace("=", ":", 1)))
    return Input(name=name, kind=kind, where=where, revision=revision, archives=digests)
