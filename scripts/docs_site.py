"""Lays out and builds the documentation site: ``scripts/docs_site.py [--to FOLDER]``, `make docs`.

The pages are the ones that are read on the forge (README.md, docs/ ...), so that nothing is written twice.
They are copied to FOLDER/docs, links that leave the site lead to the forge, and one page is made from the
program: the command line's own help. MkDocs then builds FOLDER/site and fails on any link that leads nowhere.
Exit code 1 then.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
FORGE: Final = "https://github.com/gate-ci/gate/blob/main/"
TOP: Final = {"README.md": "index.md", "CONTRIBUTING.md": "", "SECURITY.md": "", "CHANGELOG.md": ""}
"""Pages beside the folder docs, and their names in the site where they have another."""
_LINK: Final = re.compile(r"(\]\()([^)#\s]+)((?:#[^)\s]*)?[^)]*\))")


def laid_out(folder: Path) -> None:
    """All pages of the site below ``folder``, which is made anew."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder)
    for name, other in TOP.items():
        shutil.copy(ROOT / name, folder / (other or name))
    for page in folder.rglob("*.md"):
        source = _source(page.relative_to(folder))
        parts = _LINK.split(page.read_text(encoding="utf-8"))  # text, "](", target, the rest, text ...
        parts[2::4] = [_target(source, link) for link in parts[2::4]]
        page.write_text("".join(parts), encoding="utf-8")
    reference = folder / "reference"
    reference.mkdir()
    (reference / "command-line.md").write_text("\n".join(command_line()), encoding="utf-8")


def _source(page: Path) -> Path:
    """Where a page of the site stands in the repository."""
    names = {other or name: name for name, other in TOP.items()}
    own = names.get(page.as_posix())
    return Path(own) if own else Path("docs") / page


def _target(source: Path, link: str) -> str:
    """The link from the page's place in the site: to another page, or to the file on the forge."""
    if "://" in link or link.startswith("mailto:"):
        return link
    there = Path(os.path.normpath(source.parent / link))
    here = _page(source)
    if there.as_posix() in TOP or there.parts[:1] == ("docs",):
        return Path(os.path.relpath(_page(there), here.parent)).as_posix()
    return FORGE + there.as_posix()


def _page(source: Path) -> Path:
    """The page of a file of the repository, from the site's top."""
    if source.as_posix() in TOP:
        return Path(TOP[source.as_posix()] or source.as_posix())
    return source.relative_to("docs")


def command_line() -> Iterator[str]:
    """A page with the help of every command, as the program prints it."""
    from gate.verbs import VERBS

    yield "# Command line\n\nAs `gate --help` and `gate COMMAND --help` print it.\n"
    for words in ([], *([verb.name] for verb in VERBS)):
        done = subprocess.run(
            [sys.executable, "-m", "gate.cli", *words, "--help"],
            env={**os.environ, "COLUMNS": "88", "NO_COLOR": "1"},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        yield f"## gate {' '.join(words)}".rstrip() + f"\n\n```text\n{done.stdout.rstrip()}\n```\n"


def main(argv: list[str]) -> int:
    """Lay out and build."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=ROOT / "build", metavar="FOLDER", help="default: build")
    folder = parser.parse_args(argv).to.resolve()
    laid_out(folder / "docs")
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "true", "GATE_DOCS": str(folder / "docs")}
    words = ["build", "--strict", "-q", "--site-dir", str(folder / "site")]
    done = subprocess.run([sys.executable, "-m", "mkdocs", *words], cwd=ROOT, env=env, check=False)
    if done.returncode == 0:
        print(f"docs: {folder / 'site' / 'index.html'}")
        print(f"docs: with the search: python3 -m http.server -b 127.0.0.1 -d {folder / 'site'}")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
