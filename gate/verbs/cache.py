"""`gate cache`: what is kept between checks, and its removal."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections import Counter
from pathlib import Path
from typing import Final

from gate.errors import Exit
from gate.verbs.interface import Verb

_WORDS: Final = {"check": "whole checks", "file": "files read", "program": "digests of this program"}
_OTHER: Final = "anything else"


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=("info", "clear"), help="tell what is kept, or remove it")
    parser.add_argument(
        "--layers", action="store_true", help="installed dependencies of projects, too (clear removes them)"
    )


def _run(arguments: argparse.Namespace) -> int:
    from gate.cache.store import entries, kept_folder

    folder = kept_folder()
    found = [(path, seen.st_size) for path, seen in (entries(folder) if folder else [])]
    if arguments.layers:
        from gate.sandbox.images.runtimes import cache

        layers = cache("layers")
        found += [(path, seen.st_size) for path, seen in entries(layers)]
    if arguments.what == "clear":
        return _clear([path for path, _ in found])
    counts, sizes = Counter[str](), Counter[str]()
    for path, size in found:
        kind = _WORDS.get(path.name.partition("-")[0], _OTHER)
        kind = "installed dependencies" if path.parent != folder else kind
        counts[kind] += 1
        sizes[kind] += size
    print(f"kept in {folder}" if folder else "nothing is kept: no HOME, no XDG_CACHE_HOME, no GATE_CACHE")
    for kind in sorted(counts):
        print(f"  {kind:<24} {counts[kind]:>6}  {sizes[kind] / (1 << 20):>8.1f} MiB")
    return Exit.OK


def _clear(paths: list[Path]) -> int:
    gone = 0
    for path in paths:
        with contextlib.suppress(OSError):
            path.unlink()
            gone += 1
    print(f"removed {gone} of {len(paths)} files")
    if gone < len(paths):
        print("gate: the others belong to somebody else or are in use", file=sys.stderr)
    return Exit.OK if gone == len(paths) else Exit.USAGE


VERB: Final = Verb(
    name="cache",
    summary="what is kept between checks: info, clear",
    description="Checks, and what scanners said of a file, are kept by content (docs/cache.md): the same "
    "change again is told at once. `gate check --no-cache` neither reads nor writes it.",
    arguments=_arguments,
    run=_run,
)
