"""What a scanner is given of a changed file: decoded text under a neutral name outside the repository.

No path of the change reaches a scanner's file system, so none can exclude itself by its name
(``vendor/``, ``tests/``, ``.git`` in a folder's name) and no tool finds a configuration lying beside it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Final

from gate.dataclass import dataclass
from gate.languages.content import named_as_code, reader_of
from gate.languages.decode import Decoded, decode, names_a_codec, without_declaration
from gate.languages.embedded_commands import EmbeddedCommands, may_hold_commands
from gate.languages.limited_child import Reader, scan_isolated
from gate.languages.notebook import Cells, read_notebook
from gate.model.change import Side
from gate.prescreen.interface import PrescreenRequest, Source, View, Views
from gate.prescreen.scope import sources

_EXTENSIONS: Final = {
    "python": ".py",
    "javascript": ".js",
    "typescript": ".ts",
    "shell": ".sh",
    "dockerfile": ".dockerfile",
    "yaml": ".yaml",
    "json": ".json",
}
_OWN: Final = (".tsx", ".jsx")
"""Endings that a neutral copy keeps: in TypeScript they choose the grammar."""


@dataclass(frozen=True, kw_only=True)
class _Text:
    """One side of a changed file, as it lies in its tree."""

    source: Source
    side: Side
    path: str
    data: bytes
    language: str | None


def make_views(request: PrescreenRequest) -> Views:
    """Decode every changed text file, head and base, and write the neutral copies (once per check)."""
    if request.views is not None:
        return request.views
    folder = request.scratch / "views"
    folder.mkdir(mode=0o700, exist_ok=True)
    looked: list[_Text] = []
    for source in sources(request).files:
        sides: list[tuple[Side, str, bytes]] = [("head", source.path, source.head)]
        if source.base is not None:
            sides.append(("base", source.changed.old_path or source.path, source.base))
        for side, path, data in sides:
            language = reader_of(path, data) or (source.language if side == "head" else None)
            if language != "binary":
                looked.append(_Text(source=source, side=side, path=path, data=data, language=language))
    odd = [i for i, one in enumerate(looked) if names_a_codec(one.data)]
    texts = _decoded_in_a_child([looked[i] for i in odd], request.deadline)
    decoded = dict(zip(odd, texts, strict=True))
    views = []
    for index, one in enumerate(looked):
        text, unreadable = decoded.get(index) or (decode(one.data, python=one.language == "python"), "")
        views.append(_view(folder, index, one, text, unreadable))
    views += _parts(folder, views, request.deadline)
    return Views(all=tuple(views))


def _parts(folder: Path, views: list[View], deadline: float) -> list[View]:
    """Commands in files of other formats as scripts. What cannot be read, readers of the format name."""
    whole = [(at, view) for at, view in enumerate(views) if may_hold_commands(view.path)]
    if not whole:
        return []
    results = scan_isolated(
        Reader("gate.languages.embedded_commands:read", EmbeddedCommands, parses=True, pure=True),
        [(view.path, _whole(view)) for _, view in whole],
        deadline=deadline,
    )
    found = []
    for (at, view), result in zip(whole, results, strict=True):
        if result.value is None or not result.value.text.strip():
            continue
        file = folder / f"{at:06d}-part.sh"
        file.write_bytes(result.value.text.encode("utf-8", "replace"))
        found.append(
            replace(
                view,
                language="shell",
                text=result.value.text,
                lines=result.value.lines,
                file=file,
                unreadable="",
                part=True,
            )
        )
    return found


def _whole(view: View) -> bytes:
    if view.side == "head":
        return view.source.head
    return view.source.base or b""


def decode_one(path: str, data: bytes, options: dict[str, object]) -> Decoded:
    """Decode inside the limited child."""
    del path
    return decode(data, python=bool(options["python"]))


def _decoded_in_a_child(items: list[_Text], deadline: float) -> list[tuple[Decoded, str]]:
    out: dict[int, tuple[Decoded, str]] = {}
    for python in (True, False):
        chosen = [i for i, item in enumerate(items) if (item.language == "python") is python]
        files = [(items[i].path, items[i].data) for i in chosen]
        if not files:
            continue
        results = scan_isolated(
            Reader("gate.prescreen.views:decode_one", Decoded),
            files,
            options={"python": python},
            deadline=deadline,
        )
        for index, result in zip(chosen, results, strict=True):
            if result.value is not None:
                out[index] = (result.value, "")
            else:
                lossy = Decoded(
                    text=items[index].data.decode("utf-8", "replace"),
                    encoding="utf-8",
                    problems=("undecodable",),
                    lossy=True,
                )
                out[index] = (lossy, f"could not be decoded: {result.reason}")
    return [out[i] for i in range(len(items))]


def _extension(path: str, language: str | None) -> str:
    own = PurePosixPath(path).suffix.lower()
    if language in ("javascript", "typescript") and own in _OWN:
        return own
    return _EXTENSIONS.get(language or "", ".txt")


def _view(folder: Path, index: int, one: _Text, decoded: Decoded, unreadable: str) -> View:
    path, language = one.path, one.language
    text, lines = decoded.text, decoded.lines
    if language == "notebook":
        cells: Cells | None = read_notebook(text)
        if cells is None:
            unreadable = unreadable or "is not a notebook that can be read"
        else:
            text, lines, language = cells.text, cells.lines, cells.language
    if language == "python" and decoded.encoding != "utf-8":
        text = without_declaration(text)
    file = folder / f"{index:06d}{_extension(path, language)}"
    file.write_bytes(text.encode("utf-8", "replace"))
    return View(
        path=path,
        side=one.side,
        language=language,
        source=one.source,
        text=text,
        file=file,
        problems=decoded.problems,
        encoding=decoded.encoding,
        lines=lines,
        unreadable=unreadable,
        guessed=language == "python" and not named_as_code(path, one.source.head),
    )
