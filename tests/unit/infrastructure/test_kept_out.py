"""Lists of what is ignored or shipped: which of them let secrets or version control out."""

from __future__ import annotations

import pytest

from gate.infrastructure.compare import differences
from gate.infrastructure.reader import read


def told(path: str, base: str, head: str) -> set[str]:
    old, new = ({path: read(path, text.encode(), {})} for text in (base, head))
    return {one.fact.what for one in differences(old, new, {})}


@pytest.mark.parametrize(
    ("path", "what", "base", "head"),
    [
        (".gitignore", "kept-out", ".env\ndist/\n", "dist/\n"),
        (".dockerignore", "kept-out", ".git\nnode_modules\n", "node_modules\n"),
        (".npmignore", "kept-out", "*.pem\n", "tests\n"),
        (".gitignore", "kept-out", ".env*\n", ".env*\n!.env.production\n"),
        ("web/.dockerignore", "kept-out", "secrets/\n", "# secrets/\n"),
        ("MANIFEST.in", "packed-secret", "include README.md\n", "include README.md .env\n"),
        ("MANIFEST.in", "packed-secret", "include README.md\n", "graft secrets\n"),
        ("package.json", "packed-secret", '{"files": ["dist"]}', '{"files": ["dist", ".env*"]}'),
    ],
)
def test_what_lets_secrets_out_is_told(path: str, what: str, base: str, head: str) -> None:
    assert told(path, base, head) == {what}


@pytest.mark.parametrize(
    ("path", "base", "head"),
    [
        (".gitignore", ".env\n.env.production\n", ".env*\n"),
        (".gitignore", "dist/\n", "build/\n"),
        (".gitignore", ".env\n", ".env\n!.env.example\n"),
        (".dockerignore", ".git\n.env\n", "**/.git\n**/.env\n"),
        (".dockerignore", ".git\n", "*\n!src\n"),
        (".npmignore", "*.pem\ntests\n", "*.pem\n"),
        ("MANIFEST.in", "include README.md\n", "recursive-include src *.json\ngraft src\n"),
        ("package.json", '{"files": ["dist"]}', '{"files": ["dist", "*", "lib/**"]}'),
        ("package.json", "[]", "{"),
    ],
)
def test_other_patterns_are_not_told(path: str, base: str, head: str) -> None:
    assert told(path, base, head) == set()
