"""What a made-up pull request is, and how it becomes a real git repository."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent

from gate import process

FileMap = Mapping[str, str | bytes | None]

BASE: dict[str, str | bytes | None] = {
    "pyproject.toml": '[project]\nname = "pricing"\nversion = "1.4.0"\n',
    "README.md": "# pricing\n\nPrices for the web shop.\n",
    "src/pricing/__init__.py": '"""Prices for the web shop."""\n',
    "src/pricing/cart.py": '''
        """Totals of a cart."""

        from pricing.tax import with_tax


        def total(items: list[tuple[str, int, float]], country: str = "DE") -> float:
            """The sum of quantity times price, tax included, in euros."""
            net = sum(count * price for _, count, price in items)
            return round(with_tax(net, country), 2)
        ''',
    "src/pricing/tax.py": '''
        """Value added tax by country."""

        RATES = {"DE": 0.19, "FR": 0.20, "NL": 0.21}


        def with_tax(net: float, country: str) -> float:
            """Net plus tax; unknown countries pay none."""
            return net * (1 + RATES.get(country, 0.0))
        ''',
    "tests/test_cart.py": """
        from pricing.cart import total


        def test_total() -> None:
            assert total([("mug", 2, 5.0)]) == 11.9
        """,
    "tests/conftest.py": """
        import pathlib
        import sys

        sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "src"))
        """,
}


@dataclass(frozen=True, kw_only=True)
class Pull:
    """One pull request on BASE. A value of None deletes the file. ``verdicts`` are the right ones;
    ``topics`` must each have a finding; ``rules`` likewise by id.
    """

    name: str
    head: FileMap
    verdicts: tuple[str, ...]
    base: FileMap = field(default_factory=dict)
    topics: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    message: str = "Change prices"
    modes: Mapping[str, int] = field(default_factory=dict)


def git(repo: Path, *words: str) -> str:
    """A real git with no configuration but its own."""
    done = process.run(
        ["git", "-C", repo, "-c", "init.defaultBranch=main", *words],
        deadline=60,
        env={
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "Sam Shopkeeper",
            "GIT_AUTHOR_EMAIL": "sam@shop.example",
            "GIT_COMMITTER_NAME": "Sam Shopkeeper",
            "GIT_COMMITTER_EMAIL": "sam@shop.example",
        },
    )
    assert done.ok, done.stderr.decode(errors="replace")
    return done.stdout.decode(errors="replace").strip()


def write(repo: Path, files: FileMap, modes: Mapping[str, int] | None = None) -> None:
    """Lay files out as given."""
    for name, content in files.items():
        path = repo / name
        if content is None:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        raw = content if isinstance(content, bytes) else dedent(content).lstrip("\n").encode()
        path.write_bytes(raw)
        os.chmod(path, (modes or {}).get(name, 0o644))


def build(pull: Pull, folder: Path) -> Path:
    """The repository, with branch ``main`` and branch ``head``."""
    repo = folder / "repo"
    repo.mkdir()
    git(repo, "init", "-q")
    write(repo, {**BASE, **pull.base})
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "Prices")
    git(repo, "checkout", "-qb", "head")
    write(repo, pull.head, pull.modes)
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", pull.message)
    return repo
