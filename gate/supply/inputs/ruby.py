"""Gemfile.lock as inputs: blocks of GEM, GIT and PATH, each with its remote and its gems."""

from __future__ import annotations

from gate.supply.inputs.model import Archive, Input, Inputs, SourceKind

_BLOCKS: dict[str, SourceKind] = {"GEM": "registry", "GIT": "vcs", "PATH": "path", "PLUGIN SOURCE": "url"}


def lock(text: str) -> Inputs:
    """Every gem by its block's remote; ``CHECKSUMS`` where newer versions of Bundler write them."""
    sums = _sums(text)
    found: list[tuple[str, str, str, str, str]] = []
    needs: dict[str, list[str]] = {}
    asked: list[str] = []
    block = remote = revision = gem = ""
    for line in text.splitlines():
        bare = line.strip()
        indent = len(line) - len(line.lstrip(" "))
        if indent == 0 and bare:
            block, remote, revision = bare, "", ""
        elif indent == 2 and ":" in bare and block in _BLOCKS:
            key, _, value = bare.partition(": ")
            remote = f"{remote} {value}".strip() if key == "remote" else remote
            revision = value if key == "revision" else revision
        elif indent == 4 and block in _BLOCKS and bare:
            gem, _, version = bare.partition(" ")
            found.append((gem, version.strip("()"), block, remote, revision))
        elif indent == 6 and block in _BLOCKS and bare:
            needs.setdefault(gem, []).append(bare.partition(" ")[0])
        elif indent == 2 and block == "DEPENDENCIES" and bare:
            asked.append(bare.partition(" ")[0].rstrip("!"))
    inputs = []
    for name, version, kind, remotes, at in found:
        where, *more = remotes.split() or [""]  # gems of a block may come from any of its remotes
        archives = [Archive(digest=digest) for digest in sums.get((name, version), ())]
        archives += [Archive(where=other) for other in more]
        inputs.append(
            Input(
                name=name, kind=_BLOCKS[kind], where=where, version=version, revision=at,
                archives=tuple(archives), needs=tuple(needs.get(name, ())),
            )
        )  # fmt: skip
    return Inputs(inputs=tuple(dict.fromkeys(inputs)), asked=tuple(asked))


def _sums(text: str) -> dict[tuple[str, str], list[str]]:
    """Name and version to ``sha256:…``."""
    found: dict[tuple[str, str], list[str]] = {}
    for line in text.partition("\nCHECKSUMS\n")[2].partition("\n\n")[0].splitlines():
        words = line.split()
        if len(words) == 3 and "=" in words[2]:
            digests = [each.replace("=", ":", 1) for each in words[2].split(",")]
            found.setdefault((words[0], words[1].strip("()")), []).extend(digests)
    return found
