"""Attacks pairs of vulnerable and secure changes, each a real git repository in a real sandbox.

A case is a table in ``tests/vulnerable/*.toml``: the files of head (and of base, where it matters), the
weakness, and whether a proof is right. Frameworks come as a layer like the one that set-up makes: from
build/attacked where the bench has made that, else from this environment.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.metadata
import importlib.util
import io
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Literal

from gate.change.git_range import open_range
from gate.model.exploit import Attacks, AttackTarget
from gate.model.run import SandboxSpec
from gate.sandbox.backends.registry import BACKENDS
from gate.stages.exploit import attack, targets_of
from tests.e2e.pulls import git, write
from tests.paths import TESTS

FOLDER = TESTS / "vulnerable"
PACKAGES = Path(__file__).resolve().parents[2] / "build" / "attacked"
"""Where ``make bench-vulnerable`` installs what packages.txt names."""
INSTALLED = (
    *("flask", "werkzeug", "jinja2", "markupsafe", "itsdangerous", "click", "blinker"),
    *("django", "asgiref", "sqlparse", "starlette", "anyio", "idna", "httpx", "httpcore", "h11", "certifi"),
    *("typing_extensions", "python-multipart", "pyyaml", "sniffio", "requests", "urllib3"),
    *("charset-normalizer", "PyJWT", "SQLAlchemy", "pydantic", "pydantic_core", "annotated-types"),
    *("typing-inspection", "lxml", "aiohttp", "aiohappyeyeballs", "aiosignal", "attrs", "frozenlist"),
    *("multidict", "propcache", "yarl", "tornado"),
)
"""What is taken from this environment instead, where that folder is not."""
Right = Literal["proven", "secure", "before"]


@dataclass(frozen=True, kw_only=True)
class Case:
    """One change. ``right``: a new hole, none, or one that base has as well. ``entry``: the route or
    function that the proof must name; empty: any. ``file``: the table's name.
    """

    weakness: str
    name: str
    right: Right
    head: dict[str, str]
    base: dict[str, str] = field(default_factory=dict)
    entry: str = ""
    file: str = ""
    also: frozenset[str] = frozenset()
    """Weaknesses of which a proof is as right, or as wrong."""

    @property
    def id(self) -> str:
        """For people."""
        return f"{self.weakness}-{self.name}"


@dataclass(frozen=True, kw_only=True)
class Result:
    """What came of one. ``new`` are the weaknesses proven of head alone, ``old`` those of base, too."""

    case: Case
    targets: tuple[AttackTarget, ...]
    attacks: Attacks

    @property
    def new(self) -> set[str]:
        return {p.weakness for p in self.attacks.proofs if p.is_new}

    @property
    def old(self) -> set[str]:
        return {p.weakness for p in self.attacks.proofs if not p.is_new}

    @property
    def verdict(self) -> Literal["proven", "not", "wrong"]:
        """``proven`` and ``not`` say what was found of the case's weakness; ``wrong`` is a proof that is
        none.
        """
        case = self.case
        meant = {case.weakness, *case.also}
        if case.right == "proven":
            told = {p.entry for p in self.attacks.proofs if p.is_new and p.weakness in meant}
            return "proven" if told and (not case.entry or case.entry in told) else "not"
        return "wrong" if meant & self.new else "not"


def cases(*files: Path) -> list[Case]:
    """Every case of these files; of the folder's own without any. ``on`` names a table of files, which both
    sides have.
    """
    out = []
    for file in files or sorted((*FOLDER.glob("*.toml"), *FOLDER.glob("access/*.toml"))):
        table = tomllib.loads(file.read_text())
        for one in table["case"]:
            common = table.get("common", {})
            on = table.get("on", {}).get(one.get("on", ""), {})
            out.append(
                Case(
                    weakness=one.get("weakness", table.get("weakness", file.stem)),
                    name=one["name"],
                    right=one["right"],
                    head={**common, **_upon(on, one["head"])},
                    base={**on, **one.get("base", {})},
                    entry=one.get("entry", ""),
                    file=file.stem,
                )
            )
    return out


def _upon(on: dict[str, str], head: dict[str, str]) -> dict[str, str]:
    """The files of head upon those that base has already: a name with ``+`` adds to a file's end."""
    return {
        name.removeprefix("+"): f"{on[name[1:]]}\n\n{text}" if name.startswith("+") else text
        for name, text in {**on, **head}.items()
    }


def can_load(case: Case) -> bool:
    """Is every package there that the case's code imports?"""
    if PACKAGES.is_dir():
        return True
    files = {**case.base, **case.head}
    own = {PurePosixPath(name).parts[0].removesuffix(".py") for name in files}
    tops: set[str] = set()
    for node in (
        node for name, text in files.items() if name.endswith(".py") for node in ast.walk(ast.parse(text))
    ):
        if isinstance(node, ast.Import):
            tops |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            tops.add(node.module.partition(".")[0])
    return all(importlib.util.find_spec(top) for top in tops - own - sys.stdlib_module_names)


@cache
def why_not() -> str:
    """Why no case can be run here; empty when they can."""
    found = BACKENDS["bubblewrap"]().probe()
    return "" if found.available else found.reason


@contextlib.contextmanager
def frameworks() -> Iterator[Path]:
    """The frameworks as a layer's tar, where a sandbox of another user can read it."""
    with tempfile.TemporaryDirectory(prefix="gate-frameworks-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield _layer(folder / "frameworks.tar")


def _files() -> Iterator[tuple[PurePosixPath, Path]]:
    """Path within site-packages and place here of every file of the frameworks."""
    if PACKAGES.is_dir():
        for path in sorted(PACKAGES.rglob("*")):
            yield PurePosixPath(path.relative_to(PACKAGES)), path
        return
    for name in INSTALLED:
        try:
            found = importlib.metadata.files(name) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        for file in found:
            yield PurePosixPath(file), Path(str(file.locate()))


def _layer(place: Path) -> Path:
    root = f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    made: set[str] = set()
    with tarfile.open(place, "w") as tar:
        for file, path in _files():
            if ".." in file.parts or "__pycache__" in file.parts or not path.is_file():
                continue
            whole = PurePosixPath(root, file)
            for above in reversed(whole.parents[:-1]):
                if str(above) not in made:
                    made.add(str(above))
                    folder = tarfile.TarInfo(str(above))
                    folder.type, folder.mode = tarfile.DIRTYPE, 0o755
                    tar.addfile(folder)
            data = path.read_bytes()
            member = tarfile.TarInfo(str(whole))
            member.size, member.mode = len(data), 0o644
            tar.addfile(member, io.BytesIO(data))
    return place


def repository(case: Case, folder: Path) -> Path:
    """The case's repository, with the branches ``main`` and ``head``."""
    repo = folder / "repo"
    repo.mkdir()
    git(repo, "init", "-q")
    write(repo, {"README.md": "# Made up\n", **case.base})
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "Base")
    git(repo, "checkout", "-qb", "head")
    write(repo, case.head)
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "Change")
    return repo


def run(case: Case, folder: Path, installed: Path, *, seconds: float = 60.0) -> Result:
    """Attack one case with bubblewrap and the simulated network."""
    backend = BACKENDS["bubblewrap"]()
    with open_range(repository(case, folder), "main", "head") as opened:
        targets = targets_of(opened)
        if not targets:
            return Result(case=case, targets=(), attacks=Attacks())
        spec = SandboxSpec(network="sinkhole", layers={"base": installed, "head": installed})
        with backend.open(spec, opened.base, opened.head) as session:
            attacks = attack(session, targets, opened, seconds=seconds)
    return Result(case=case, targets=targets, attacks=attacks)


def run_all(wanted: Sequence[Case]) -> Iterator[Result]:
    """Attack each, one after another."""
    with frameworks() as installed:
        for case in wanted:
            with tempfile.TemporaryDirectory(prefix="gate-case-") as name:
                yield run(case, Path(name), installed)
