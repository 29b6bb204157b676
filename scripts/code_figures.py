"""Counts what the size and the shape of the program are, at commits beside each other: a Markdown table.

``python scripts/code_figures.py c10dfa2 HEAD`` reads the trees from git and checks nothing out. Complexity is
ruff's (C901), everything else is counted here.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).resolve().parents[1]
LONGEST: Final = 60
MOST_ARGUMENTS: Final = 7
MOST_BRANCHES: Final = 15
"""What the issue counted: lines of a function, its arguments without self, its complexity."""
_ANY: Final = re.compile(r"\bAny\b")


def _too_long(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return (node.end_lineno or 0) - node.lineno + 1 > LONGEST


def _too_many(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    return len([a for a in arguments if a.arg not in ("self", "cls")]) > MOST_ARGUMENTS


def _is_broad(node: ast.ExceptHandler) -> bool:
    """``except Exception``: what a bug raises is caught, too."""
    kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
    return any(isinstance(kind, ast.Name) and kind.id == "Exception" for kind in kinds)


def _complex(folder: Path) -> int:
    limit = f"lint.mccabe.max-complexity={MOST_BRANCHES}"
    words = ["ruff", "check", "--isolated", "--ignore-noqa", "--select", "C901", "--config", limit]
    ruff = Path(sys.executable).with_name("ruff")
    done = subprocess.run(
        [ruff, *words[1:], "--output-format", "concise", folder], capture_output=True, text=True, check=False
    )
    return sum(" C901 " in line for line in done.stdout.splitlines())


def figures(tree: Path) -> dict[str, str]:
    """The figures of one tree, by what they count."""
    count: Counter[str] = Counter()
    packages: Counter[str] = Counter()
    longest = 0
    for path in sorted((tree / "gate").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        count["files"] += 1
        count["lines"] += len(lines)
        longest = max(longest, len(lines))
        inside = path.relative_to(tree / "gate").parts
        packages[inside[0]] += len(lines) if len(inside) > 1 else 0
        count["any"] += sum(bool(_ANY.search(line)) for line in lines)
        count["noqa"] += text.count("# noqa")
        host = inside[0] != "inside" and not {"seccheck", "guest", "driver"} & set(inside)
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                count["long"] += _too_long(node)
                count["many"] += _too_many(node)
            elif isinstance(node, ast.ExceptHandler) and _is_broad(node):
                count["broad"] += 1
                count["broad_host"] += host
    room, most = packages.most_common(1)[0]
    tests = sorted((tree / "tests").rglob("test_*.py"))
    return {
        "Python files under `gate/`": f"{count['files']:,}",
        "lines in them": f"{count['lines']:,}",
        "the largest package": f"`{room}`, {100 * most / count['lines']:.0f} %",
        "the longest file, lines": str(longest),
        f"functions over {LONGEST} lines": str(count["long"]),
        f"functions with more than {MOST_ARGUMENTS} arguments": str(count["many"]),
        f"functions over complexity {MOST_BRANCHES} (ruff C901)": str(_complex(tree / "gate")),
        "lines with `Any`, of 1,000": f"{1000 * count['any'] / count['lines']:.1f}",
        "`noqa`, of 1,000 lines": f"{1000 * count['noqa'] / count['lines']:.1f}",
        "`except Exception`, of them outside sandboxes": f"{count['broad']}, {count['broad_host']}",
        "test files": f"{len(tests):,}",
    }


def tree_of(commit: str, folder: Path) -> Path:
    """The commit's ``gate`` and ``tests`` below the folder."""
    words = ["git", "-C", str(REPOSITORY), "archive", commit, "gate", "tests"]
    archive = subprocess.run(words, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(folder, filter="data")
    return folder


def main(argv: list[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commits", nargs="+", help="git revisions, the oldest first")
    commits = parser.parse_args(argv).commits
    with tempfile.TemporaryDirectory() as folder:
        columns = [figures(tree_of(commit, Path(folder, str(n)))) for n, commit in enumerate(commits)]
    print("| |", " | ".join(f"`{commit}`" for commit in commits), "|")
    print("|---|" + "---|" * len(commits))
    for name in columns[0]:
        print(f"| {name} |", " | ".join(column[name] for column in columns), "|")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
