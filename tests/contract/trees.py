"""Trees held in memory, so that a test says beside its assertion what runs in the sandbox."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from gate.model.change import TreeEntry


@dataclass(frozen=True)
class DictTree:
    """A Tree of plain files and symlinks (path -> target)."""

    files: Mapping[str, str | bytes] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)

    def entries(self) -> tuple[TreeEntry, ...]:
        files = [TreeEntry(path=p, mode="100644", blob="0" * 40, size=len(c)) for p, c in self.files.items()]
        links = [TreeEntry(path=p, mode="120000", blob="0" * 40, size=len(t)) for p, t in self.links.items()]
        return tuple(sorted(files + links, key=lambda entry: entry.path))

    def read(self, path: str) -> bytes:
        content = self.files.get(path, self.links.get(path))
        if content is None:
            raise KeyError(path)
        return content.encode() if isinstance(content, str) else content

    def read_many(self, paths: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
        for path in paths:
            if path in self.files or path in self.links:
                yield path, self.read(path)

    def archive(self) -> Iterator[bytes]:
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
            for path in sorted({*self.files, *self.links}):
                member = tarfile.TarInfo(path)
                member.mode = 0o644
                if path in self.links:
                    member.type, member.linkname = tarfile.SYMTYPE, self.links[path]
                    tar.addfile(member)
                else:
                    content = self.read(path)
                    member.size = len(content)
                    tar.addfile(member, io.BytesIO(content))
        data = buffer.getvalue()
        for at in range(0, len(data), 1 << 16):
            yield data[at : at + (1 << 16)]
