"""Writes docs/rules/: one page a rule and an index, from the rules themselves. `--check` only compares."""

from __future__ import annotations

import sys
from pathlib import Path

from gate.model.rule import RuleMeta
from gate.stages.rule_index import rulebook

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "rules"
_HEAD = "<!-- Made by scripts/rule_pages.py from the rule itself; change the rule, not this page. -->\n\n"


def _page(meta: RuleMeta, text: str) -> str:
    facts = [
        ("stage", meta.stage.value),
        ("severity", f"{meta.severity.value}, confidence {meta.confidence.value}"),
        ("topic", meta.topic),
        (
            "weakness",
            ", ".join(f"[CWE-{n}](https://cwe.mitre.org/data/definitions/{n}.html)" for n in meta.cwe),
        ),
        (
            "technique",
            ", ".join(
                f"[{t}](https://attack.mitre.org/techniques/{t.replace('.', '/')}/)" for t in meta.attack
            ),
        ),
        ("languages", ", ".join(meta.languages)),
    ]
    rows = "".join(f"- **{name}:** {value}\n" for name, value in facts if value)
    body = f"\n{text.strip()}\n" if text.strip() else ""
    return (
        f"{_HEAD}# {meta.id}: {meta.title}\n\n{rows}\n## Why it matters\n\n{meta.help}\n\n"
        f"## What to do\n\n{meta.remediation}\n{body}"
    )


def pages() -> dict[str, str]:
    """File name to text, for our own rules (Bandit has pages of its own)."""
    book = rulebook()
    own = [meta for meta in book.all() if meta.origin != "bandit"]
    made = {f"{meta.id}.md": _page(meta, book.page(meta.id)) for meta in own}
    rows = "".join(
        f"| [{m.id}]({m.id}.md) | {m.stage.value} | {m.severity.value} | {m.title} |\n" for m in own
    )
    made["README.md"] = (
        f"{_HEAD}# Rules\n\n{len(own)} rules of gate's own; Bandit's rules run as well and appear as\n"
        "`bandit-<id>`. `gate explain RULE-ID` prints a page.\n\n"
        f"| rule | stage | severity | title |\n|---|---|---|---|\n{rows}"
    )
    return made


def main() -> int:
    """Write the pages, or with --check say whether they are current (exit 1 when not)."""
    made = pages()
    current = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    if "--check" in sys.argv:
        stale = sorted(name for name in made.keys() | current.keys() if made.get(name) != current.get(name))
        print("\n".join(stale) or "docs/rules is current")
        return bool(stale)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in current.keys() - made.keys():
        (FOLDER / name).unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    print(f"{len(made)} pages in docs/rules")
    return 0


if __name__ == "__main__":
    sys.exit(main())
