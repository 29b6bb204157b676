"""Files that cannot be read as source: programs, archives, data under a false name, submodules, links."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from gate.languages.content import binary_kind
from gate.languages.path_roles import is_test_code
from gate.model.change import ChangedFile
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import RuleMeta, Severity
from gate.prescreen.interface import Prescreened, PrescreenRequest, Source
from gate.prescreen.outcome import ended
from gate.prescreen.read_files import Unread
from gate.prescreen.scanners.packed_archives import archive_findings
from gate.prescreen.scope import sources
from gate.prescreen.text_rule import finding, rule

_PROGRAMS: Final = frozenset(
    {
        "ELF program or library",
        "Windows program or library",
        "Mach-O program or library",
        "Mach-O or Java class file",
        "WebAssembly module",
        "static library",
        "compiled Python",
    }
)
# Extension, first bytes: what a viewer shows for the name must be what the bytes are (file(1), IANA).
_PICTURES: Final = {
    "png": rb"\x89PNG\r\n\x1a\n",
    "jpg": rb"\xff\xd8\xff",
    "jpeg": rb"\xff\xd8\xff",
    "gif": rb"GIF8[79]a",
    "ico": rb"\0\0[\1\2]\0",
    "webp": rb"RIFF....WEBP",
    "pdf": rb"%PDF-",
    "woff": rb"wOFF",
    "woff2": rb"wOF2",
    "ttf": rb"\x00\x01\x00\x00|true|ttcf|OTTO",
    "otf": rb"OTTO",
    "bmp": rb"BM",
    "mp4": rb"....ftyp",
    "mp3": rb"ID3|\xff[\xe0-\xff]",
}
_MODELS: Final = frozenset({"pkl", "pickle", "joblib", "pt", "pth", "dill"})

PROGRAM: Final = rule.meta(
    "opaque.program",
    "A compiled program without its source",
    severity="high",
    confidence="high",
    topic="opaque",
    cwe=(506, 1104),
    attack=("T1027",),
    why="Nobody can review machine code in a pull request; it is where a back door hides best (xz, 2024).",
    fix="Commit the source and build it, or fetch it by a pinned hash from its publisher.",
)
PICKLE: Final = rule.meta(
    "opaque.pickle",
    "A pickle file, which runs code when it is loaded",
    severity="medium",
    confidence="medium",
    topic="deserialize",
    cwe=(502,),
    attack=("T1027",),
    why="Loading a pickle runs whatever it says; its content cannot be reviewed.",
    fix="Use a format that holds data only (JSON, safetensors, NPZ without objects).",
)
ARCHIVE: Final = rule.meta(
    "opaque.archive",
    "A new archive whose content is not looked at",
    severity="medium",
    confidence="medium",
    topic="opaque",
    cwe=(506,),
    attack=("T1027",),
    why="What is inside an archive escapes review and every scanner here; it is never unpacked.",
    fix="Commit the files themselves, or fetch the archive by a pinned hash where it is needed.",
)
MASKED: Final = rule.meta(
    "opaque.masked",
    "A file that is not what its name says",
    severity="high",
    confidence="medium",
    topic="opaque",
    cwe=(646, 506),
    attack=("T1036.008",),
    why="A viewer shows a broken picture; a program can read it as code or data.",
    fix="Give the file the name of what it is.",
)
LINK: Final = rule.meta(
    "opaque.link",
    "A symbolic link that leaves the repository",
    severity="high",
    confidence="high",
    topic="file",
    cwe=(59, 61),
    attack=("T1547.009",),
    why="Whatever follows the link reads or writes a file of the machine, not of the repository.",
    fix="Link to a path inside the repository, or copy the file.",
)
SUBMODULE: Final = rule.meta(
    "opaque.submodule",
    "A submodule is added or moved to another commit",
    severity="medium",
    confidence="medium",
    topic="dependency",
    cwe=(829,),
    attack=("T1195.001",),
    why="Its content comes from another repository and is not part of what was looked at here.",
    fix="Review the submodule's own change, and check that its address is the expected one.",
)
RULES: Final[tuple[RuleMeta, ...]] = (PROGRAM, PICKLE, ARCHIVE, MASKED, LINK, SUBMODULE)


class Opaque:
    """Changed files that no other scanner can read."""

    name: str = "opaque"

    def scan(self, request: PrescreenRequest) -> Prescreened:
        """Look at first bytes, modes, link targets and an archive's own lists; nothing is ever unpacked."""
        found = [f for source in sources(request).files for f in _file(source)]
        for changed in request.change.files:
            found += _special(changed, request)
        unread: Unread = []
        found += archive_findings(request, PROGRAM, unread)
        return ended(self.name, found, unread)


def _file(source: Source) -> Iterator[Finding]:
    kind = binary_kind(source.head)
    path = PurePosixPath(source.path)
    extension = path.suffix.lower().lstrip(".")
    place = Location(path=source.path)
    seen = {"kind": kind or "text", "bytes": str(len(source.head))}
    magic = _PICTURES.get(extension)
    pointer = source.head.startswith(b"version https://git-lfs.github.com/spec/")
    if magic and source.head and not pointer and not re.match(magic, source.head[:16], re.DOTALL):
        yield finding(MASKED, "The content is not what the name says.", place, shape="masked", evidence=seen)
    if kind is None:
        return
    quiet = Severity.MEDIUM if is_test_code(source.path) else None
    if kind in _PROGRAMS:
        yield finding(
            PROGRAM, f"This file is a {kind}.", place, shape=kind, evidence=seen,
            severity=quiet if kind != "compiled Python" else None,
        )  # fmt: skip
    elif kind == "pickle" or (extension in _MODELS and kind == "ZIP archive"):
        yield finding(PICKLE, "Loading this file can run code.", place, shape="pickle", evidence=seen)
    elif "archive" in kind:
        low = Severity.LOW if is_test_code(source.path) or source.base is not None else None
        yield finding(ARCHIVE, f"This file is a {kind}.", place, shape=kind, evidence=seen, severity=low)


def _special(changed: ChangedFile, request: PrescreenRequest) -> Iterator[Finding]:
    place = Location(path=changed.path)
    if changed.new_mode == "160000":
        yield finding(
            SUBMODULE,
            "The commit of this submodule is new.",
            place,
            shape="submodule",
            evidence={"commit": changed.new_blob or ""},
        )
    if changed.new_mode == "120000":
        target = (
            dict(request.head.read_many((changed.path,))).get(changed.path, b"").decode("utf-8", "replace")
        )
        landed = posixpath.normpath(posixpath.join(posixpath.dirname(changed.path), target))
        inside_git = ".git" in PurePosixPath(landed.lower()).parts
        if target.startswith("/") or landed.startswith("..") or inside_git:
            yield finding(
                LINK,
                "This link leads out of the repository.",
                place,
                shape=target,
                evidence={"target": target},
            )
