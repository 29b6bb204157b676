"""Commands that take what they cannot verify, each with one that checks."""

from __future__ import annotations

import pytest

from gate.prescreen.scanners.commands import Commands
from tests.prescreen_support import make_request


def told(path: str, text: str, base: str = "") -> list[tuple[str, str]]:
    found = Commands().scan(make_request({path: text}, {path: base})).findings
    return [
        (f.severity.value, f.evidence["option"]) for f in found if f.rule_id == "command.verification-off"
    ]


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("sha256sum --check --strict --ignore-missing sums.txt", "sha256sum --ignore-missing"),
        ("(cd dist && sha512sum -c --ignore-missing ../SUMS)", "sha512sum --ignore-missing"),
        ("sudo apt-get install -y --allow-unauthenticated tool", "apt-get --allow-unauthenticated"),
        (
            "apt-get -o Acquire::AllowInsecureRepositories=true update",
            "apt-get Acquire::AllowInsecureRepositories=true",
        ),
        ("gpg --batch --trust-model always --verify a.asc a", "gpg --trust-model always"),
        ("pip install --trusted-host pypi.example -r r.txt", "pip --trusted-host"),
        ("pip install --trusted-host=pypi.example -r r.txt", "pip --trusted-host"),
        ("cosign verify --insecure-ignore-tlog=true img", "cosign --insecure-ignore-tlog"),
        ("ssh -o UserKnownHostsFile=/dev/null host true", "ssh UserKnownHostsFile=/dev/null"),
        ("ssh -oUserKnownHostsFile=/dev/null host true", "ssh UserKnownHostsFile=/dev/null"),
        ("GOSUMDB=off go build ./...", "GOSUMDB=off"),
        ("go env -w GOSUMDB=off", "GOSUMDB=off"),
        ("export NODE_TLS_REJECT_UNAUTHORIZED=0", "NODE_TLS_REJECT_UNAUTHORIZED=0"),
        ("dnf install -y --nogpgcheck https://x.example/a.rpm", "dnf --nogpgcheck"),
    ],
)
def test_an_option_that_switches_a_check_off_is_told(command: str, option: str) -> None:
    assert told("tools/fetch.sh", f"set -e\n{command}\n") == [("medium", option)]
    assert told("Dockerfile", f"FROM debian\nRUN {command}\n") == [("medium", option)]
    workflow = f"on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n    - run: |\n        {command}\n"
    assert told(".github/workflows/a.yml", workflow) == [("medium", option)]


@pytest.mark.parametrize(
    "command",
    [
        "sha256sum --check --strict sums.txt",
        "apt-get install -y tool",
        "gpg --verify a.asc a",
        "pip install --require-hashes -r r.txt",
        "cosign verify --certificate-identity=a --certificate-oidc-issuer=b img",
        "cosign verify --insecure-ignore-tlog=false img",
        "ssh -o UserKnownHostsFile=known_hosts host true",
        "gcloud run deploy shop --allow-unauthenticated",  # another thing
        "echo 'never use sha256sum --ignore-missing here'",
        "# sha256sum --check --ignore-missing",
        "grep -- --ignore-missing notes.txt",
        "GOSUMDB=sum.golang.org go build ./...",
    ],
)
def test_a_command_that_checks_is_nothing(command: str) -> None:
    assert not told("tools/fetch.sh", f"set -e\n{command}\n")


def test_only_what_is_new_is_told_and_tests_weigh_less() -> None:
    line = "sha256sum --check --ignore-missing sums.txt\n"
    assert not told("tools/fetch.sh", f"echo a\n{line}", line)
    assert [level for level, _ in told("tests/fetch.sh", line)] == ["low"]
