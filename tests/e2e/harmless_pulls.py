"""Harmless pull requests of the awkward sort: each has once made some tool cry wolf."""

from __future__ import annotations

import base64
from typing import Final

from tests.e2e.pulls import Pull

_PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 3).decode()
_PAGES = '''
    """Pages from a list."""

    import pathlib


    def write(folder: str = "docs/pages") -> None:
        """All of them."""
        for number in range(30):
            pathlib.Path(folder, f"{number}.md").write_text(f"# Page {number}\\n\\nWORDS\\n")
    '''
_FEW = _PAGES.replace("range(30)", "range(12)")

HARMLESS: Final = (
    Pull(
        name="environment-variable",
        head={
            "src/pricing/config.py": '''
                """Configuration."""

                import os

                CURRENCY = os.environ.get("PRICING_CURRENCY", "EUR")
                DEBUG = os.getenv("DEBUG") == "1"
                ''',
        },
        verdicts=("pass",),
    ),
    Pull(
        name="git-in-build-script",
        head={
            "scripts/version.py": '''
                """Print the version for the build."""

                import subprocess


                def main() -> None:
                    """Ask git, fall back to unknown."""
                    try:
                        done = subprocess.run(
                            ["git", "describe", "--tags"], capture_output=True, text=True, check=True
                        )
                        print(done.stdout.strip())
                    except (OSError, subprocess.CalledProcessError):
                        print("unknown")


                if __name__ == "__main__":
                    main()
                ''',
        },
        verdicts=("pass",),
    ),
    Pull(
        name="localhost-server-in-tests",
        head={
            "tests/test_server.py": """
                import http.server
                import threading
                import urllib.request


                def test_server() -> None:
                    server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
                    threading.Thread(target=server.serve_forever, daemon=True).start()
                    try:
                        with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/") as answer:
                            assert answer.status == 200
                    finally:
                        server.shutdown()
                        server.server_close()
                """,
        },
        verdicts=("pass",),
    ),
    Pull(
        name="base64-image",
        head={
            "src/pricing/logo.py": f'''
                """The logo."""

                import base64

                LOGO = base64.b64decode("{_PNG}")


                def size() -> int:
                    """Bytes."""
                    return len(LOGO)
                ''',
        },
        verdicts=("pass",),
    ),
    Pull(
        name="cache-under-home",
        head={
            "src/pricing/cache.py": '''
                """A cache of rates."""

                import json
                import pathlib

                FOLDER = pathlib.Path.home() / ".cache" / "pricing"


                def save(rates: dict[str, float]) -> None:
                    """Keep the rates."""
                    FOLDER.mkdir(parents=True, exist_ok=True)
                    (FOLDER / "rates.json").write_text(json.dumps(rates))


                save({"DE": 0.19})
                ''',
        },
        verdicts=("pass",),
    ),
    Pull(
        name="docs-only",
        head={"README.md": "# pricing\n\nPrices and taxes for the web shop.\n"},
        verdicts=("pass",),
    ),
    Pull(
        name="module-renamed",
        head={
            "src/pricing/tax.py": None,
            "src/pricing/vat.py": '''
                """Value added tax by country."""

                RATES = {"DE": 0.19, "FR": 0.20, "NL": 0.21}


                def with_tax(net: float, country: str) -> float:
                    """Net plus tax; unknown countries pay none."""
                    return net * (1 + RATES.get(country, 0.0))
                ''',
            "src/pricing/cart.py": '''
                """Totals of a cart."""

                from pricing.vat import with_tax


                def total(items: list[tuple[str, int, float]], country: str = "DE") -> float:
                    """The sum of quantity times price, tax included, in euros."""
                    net = sum(count * price for _, count, price in items)
                    return round(with_tax(net, country), 2)
                ''',
        },
        verdicts=("pass",),
    ),
    Pull(
        name="http-client-function",
        head={
            "src/pricing/remote.py": '''
                """Rates from the bank."""

                import json
                import urllib.request


                def fetch(url: str, timeout: float = 10.0) -> dict[str, float]:
                    """Download the rates."""
                    with urllib.request.urlopen(url, timeout=timeout) as answer:
                        return json.load(answer)
                ''',
        },
        verdicts=("pass", "warn"),
    ),
    Pull(
        name="temporary-files-and-sqlite",
        head={
            "src/pricing/store.py": '''
                """A store of prices."""

                import sqlite3
                import tempfile


                def roundtrip(name: str = "mug", price: float = 5.0) -> float:
                    """Write a price and read it back."""
                    with tempfile.NamedTemporaryFile(suffix=".db") as file:
                        with sqlite3.connect(file.name) as base:
                            base.execute("create table prices (name text, price real)")
                            base.execute("insert into prices values (?, ?)", (name, price))
                            (found,) = base.execute("select price from prices where name = ?", (name,)).fetchone()
                            return float(found)
                ''',
            "tests/test_store.py": """
                from pricing.store import roundtrip


                def test_roundtrip() -> None:
                    assert roundtrip("mug", 5.0) == 5.0
                """,
        },
        verdicts=("pass",),
    ),
    Pull(
        name="command-line",
        head={
            "src/pricing/__main__.py": '''
                """The command line."""

                import argparse
                import logging
                import sys


                def main(argv: list[str] | None = None) -> int:
                    """Print the tax on an amount."""
                    parser = argparse.ArgumentParser()
                    parser.add_argument("amount", type=float)
                    parser.add_argument("--country", default="DE")
                    arguments = parser.parse_args(argv)
                    logging.basicConfig(level=logging.INFO)
                    logging.info("tax for %s", arguments.country)
                    print(arguments.amount * 1.19)
                    return 0


                if __name__ == "__main__":
                    sys.exit(main())
                ''',
        },
        verdicts=("pass",),
    ),
    Pull(
        name="missing-dependency",
        head={
            "src/pricing/stats.py": '''
                """Statistics."""

                import numpy as np


                def mean(values: list[float]) -> float:
                    """The mean."""
                    return float(np.mean(values))
                ''',
        },
        verdicts=("pass",),
    ),
    Pull(
        name="async-threads-processes",
        head={
            "src/pricing/parallel.py": '''
                """Prices in parallel."""

                import asyncio
                import concurrent.futures
                import multiprocessing


                def double(price: float) -> float:
                    """Twice the price."""
                    return price * 2


                async def later(price: float) -> float:
                    """The price, a little later."""
                    await asyncio.sleep(0)
                    return price


                def everything() -> list[float]:
                    """By threads and by processes."""
                    with concurrent.futures.ThreadPoolExecutor(2) as pool:
                        prices = list(pool.map(double, [1.0, 2.0]))
                    with multiprocessing.Pool(2) as pool:
                        prices += pool.map(double, [1.0, 2.0])
                    return prices + [asyncio.run(later(1.0))]
                ''',
            "tests/test_parallel.py": """
                from pricing.parallel import everything


                def test_everything() -> None:
                    assert everything() == [2.0, 4.0, 2.0, 4.0, 1.0]
                """,
        },
        verdicts=("pass",),
    ),
    Pull(
        name="subprocess-in-tests",
        head={
            "tests/test_cli.py": """
                import subprocess
                import sys


                def test_python_runs() -> None:
                    done = subprocess.run([sys.executable, "-c", "print(6 * 7)"], capture_output=True, check=True)
                    assert done.stdout == b"42\\n"
                """,
        },
        verdicts=("pass",),
    ),
    Pull(
        name="tokens-and-hashes",
        head={
            "src/pricing/voucher.py": '''
                """Vouchers."""

                import hashlib
                import hmac
                import secrets


                def new() -> str:
                    """A fresh voucher code."""
                    return secrets.token_urlsafe(12)


                def check(code: str, digest: str) -> bool:
                    """True when the digest is the code's."""
                    return hmac.compare_digest(hashlib.sha256(code.encode()).hexdigest(), digest)
                ''',
        },
        verdicts=("pass",),
    ),
    Pull(
        name="thread-pool-of-a-module",
        head={
            "src/pricing/pool.py": '''
                """Prices in the background."""

                from concurrent.futures import ThreadPoolExecutor

                POOL = ThreadPoolExecutor(2)


                def double(price: int) -> int:
                    """Twice the price."""
                    return POOL.submit(lambda: price * 2).result()
                ''',
        },
        verdicts=("pass",),
    ),
    Pull(
        name="generator-of-committed-pages",
        base={f"docs/pages/{n}.md": f"# Page {n}\n\nWords and lines.\n" for n in range(30)}
        | {"src/pricing/pages.py": _PAGES.replace("WORDS", "Words and lines.")},
        head={"src/pricing/pages.py": _PAGES.replace("WORDS", "Other words and lines.")},
        verdicts=("pass",),
    ),
    Pull(
        name="generator-of-a-few-pages",
        base={f"docs/pages/{n}.md": f"# Page {n}\n\nWords and lines.\n" for n in range(12)}
        | {"src/pricing/pages.py": _FEW.replace("WORDS", "Words and lines.")},
        head={"src/pricing/pages.py": _FEW.replace("WORDS", "Other words and lines.")},
        verdicts=("pass",),
    ),
    Pull(
        name="worker-processes",
        head={
            "src/pricing/many.py": '''
                """Totals of many carts."""

                import concurrent.futures
                import multiprocessing


                def totals(carts: list[list[float]]) -> list[float]:
                    """One process each."""
                    with concurrent.futures.ProcessPoolExecutor(2) as pool:
                        first = list(pool.map(sum, carts))
                    with multiprocessing.get_context("spawn").Pool(2) as pool:
                        return first + pool.map(sum, carts)
                ''',
        },
        verdicts=("pass",),
    ),
    Pull(
        name="server-process-in-tests",
        head={
            "tests/test_shop.py": """
                import subprocess
                import sys
                import time


                def test_shop_starts() -> None:
                    shop = subprocess.Popen([sys.executable, "-m", "http.server", "0", "--bind", "127.0.0.1"])
                    time.sleep(0.3)
                    assert shop.poll() is None
                    shop.terminate()
                    shop.wait(5)
                """,
        },
        verdicts=("pass",),
    ),
)
