"""Can the code of a run have read a planted secret? Asked before it is run again for what it only prints.

Answered generously, from what the run opened: a decoy, or a file of the tree whose text has a word by which
variables, files of the home folder or other programs are reached. Every process has the planted variables, so
a program that is no Python or JavaScript always can. False is safe to the extent of this list: it only saves
runs of code that computes and prints.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from gate.inside.observer.text import bytes_of
from gate.model.canary import Canary
from gate.model.change import Tree
from gate.model.run import RunRecord
from gate.tracing.behaviour.paths import TREE
from gate.tracing.codec import read_trace
from gate.tracing.events import Event, Exec, Open

_READ: Final = (".py", ".pyi", ".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".mts", ".cts")
_WORDS: Final = (
    b"environ", b"getenv", b"process", b"/proc", b"getattr", b"__", b"import_module", b"eval", b"exec",
    b"compile", b"ctypes", b"popen", b"system", b"spawn", b"home", b"expanduser", b"vars(", b"globals",
    b"HOME", b"~", b"/work", b"/var", b"Deno", b"Reflect", b"globalThis", b"Function", b"credentials",
    b"token", b"secret", b"TOKEN", b"SECRET", b"_KEY", b"posix", b"pickle", b"marshal", b"codecs", b"netrc",
)  # fmt: skip
_ORDINARY: Final = (
    b"__name__",
    b"__main__",
    b"__init__",
    b"__future__",
    b"__all__",
    b"__version__",
    b"__file__",
)
_FILES: Final = 200


def may_read(record: RunRecord, planted: Sequence[Canary], head: Tree, changed: Iterable[str]) -> bool:
    """True unless nothing that the run opened, and none of the ``changed`` files, has a word for it."""
    decoys = {canary.path for canary in planted if canary.path}
    opened = dict.fromkeys(changed)
    found = [record.trace is None]

    def each(event: Event) -> None:
        if isinstance(event, Open) and event.access != "path":
            if event.path in decoys or event.path.replace("/run/", "/var/run/", 1) in decoys:
                found[0] = True
            elif event.path.startswith(f"{TREE}/"):
                name = bytes_of(event.path[len(TREE) + 1 :]).decode("utf-8", "surrogateescape")
                opened.setdefault(name)
        elif isinstance(event, Exec) and not any("/opt/gate/" in word for word in event.argv):
            found[0] = True  # a child has the variables

    if record.trace is not None:
        read_trace(record.trace, each)
    if found[0]:
        return True
    sources = tuple(path for path in opened if path.endswith(_READ))
    if len(sources) > _FILES or (record.probe.path and not record.probe.path.endswith(_READ)):
        return True
    return any(_has_word(text) for _, text in head.read_many(sources))


def _has_word(text: bytes) -> bool:
    for ordinary in _ORDINARY:
        text = text.replace(ordinary, b"")
    return any(word in text for word in _WORDS)
