"""Makes real git repositories object by object, so that trees no honest client would write exist too."""

from __future__ import annotations

import hashlib
import subprocess
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

FILE, RUN, LINK, MODULE, FOLDER = b"100644", b"100755", b"120000", b"160000", b"40000"
Entry = tuple[bytes, bytes]
"""(mode, content); for MODULE the content is the commit's name in hex."""


class Repo:
    """One repository under ``path``; commits are written without ever using a work tree."""

    def __init__(self, path: Path, *, bare: bool = False) -> None:
        self.path = path
        words = ["git", "init", "--quiet", "--initial-branch=main", *(["--bare"] if bare else []), str(path)]
        subprocess.run(words, check=True, env=quiet())
        self.git_dir = path if bare else path / ".git"

    def put(self, kind: str, data: bytes) -> str:
        whole = b"%s %d\0" % (kind.encode(), len(data)) + data
        name = hashlib.sha1(whole).hexdigest()
        file = self.git_dir / "objects" / name[:2] / name[2:]
        if not file.exists():
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(zlib.compress(whole, 1))
        return name

    def tree(self, files: Mapping[bytes, bytes | Entry]) -> str:
        """A tree from full paths. A plain ``bytes`` value is an ordinary file."""
        here: list[tuple[bytes, bytes, str]] = []
        below: dict[bytes, dict[bytes, bytes | Entry]] = {}
        for path, value in files.items():
            first, slash, rest = path.partition(b"/")
            if slash:
                below.setdefault(first, {})[rest] = value
                continue
            mode, data = value if isinstance(value, tuple) else (FILE, value)
            here.append((mode, first, data.decode() if mode == MODULE else self.put("blob", data)))
        here += [(FOLDER, name, self.tree(inner)) for name, inner in below.items()]
        return self.raw_tree(sorted(here, key=lambda e: e[1] + (b"/" if e[0] == FOLDER else b"")))

    def raw_tree(self, entries: Sequence[tuple[bytes, bytes, str]]) -> str:
        """A tree object exactly as given: names are not checked."""
        return self.put("tree", b"".join(b"%s %s\0" % (m, n) + bytes.fromhex(s) for m, n, s in entries))

    def commit(
        self,
        tree: str | Mapping[bytes, bytes | Entry],
        *parents: str,
        message: str | bytes = "work",
        author: str = "A Person <person@example.org>",
        committer: str = "",
        when: int = 1_700_000_000,
    ) -> str:
        name = tree if isinstance(tree, str) else self.tree(tree)
        lines = [f"tree {name}", *(f"parent {p}" for p in parents)]
        lines += [f"author {author} {when} +0000", f"committer {committer or author} {when} +0000"]
        text = message.encode() if isinstance(message, str) else message
        return self.put("commit", "\n".join(lines).encode() + b"\n\n" + text)

    def ref(self, name: str, commit: str) -> None:
        file = self.git_dir / "refs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(commit + "\n")

    def note(self, commit: str, body: bytes, ref: str = "notes/ai") -> None:
        """Attach the only note of a notes ref."""
        self.ref(ref, self.commit({commit[:2].encode() + b"/" + commit[2:].encode(): body}))

    def config(self, text: str) -> None:
        with (self.git_dir / "config").open("a") as stream:
            stream.write(text)


def quiet() -> dict[str, str]:
    """An environment in which git reads nobody's configuration."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
    }
