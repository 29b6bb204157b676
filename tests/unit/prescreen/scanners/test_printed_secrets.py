"""Commands that print secrets, each with one that does not."""

from __future__ import annotations

import pytest

from gate.prescreen.scanners.commands import Commands
from tests.prescreen_support import make_request


def told(path: str, text: str, base: str = "") -> list[str]:
    found = Commands().scan(make_request({path: text}, {path: base})).findings
    return [
        f.evidence.get("command") or f.evidence["by"] for f in found if f.rule_id == "command.prints-secrets"
    ]


PRINTS = (
    "docker compose config",
    "docker compose -f a.yml --profile x config",
    "docker compose --env-file .env config | tee build.log",
    "printenv",
    "printenv | sort",
    "env",
    "/usr/bin/env | grep -i token",
    "printenv DEPLOY_TOKEN",
    "export -p",
    "cat /proc/self/environ",
    "kubectl get secret db -n shop -o yaml",
    "kubectl -n shop get secrets,configmaps -o json",
    "kubectl get secret/db -o jsonpath='{.data.password}' | base64 -d",
    "kubectl config view --raw",
    "kubectl exec deploy/app -- env",
    "terraform output -json",
    "terraform -chdir=infra output -raw db_url",
    "tofu show -json",
    "helm get values shop --all",
    "gh auth token",
    "gh auth status --show-token",
    "echo url=https://x | git credential fill",
    "git config --list",
    "npm config ls -l",
    "pip config debug",
    "aws configure export-credentials --format env",
    "aws secretsmanager get-secret-value --secret-id db",
    "aws ssm get-parameter --name /db --with-decryption",
    "gcloud auth print-access-token",
    "gcloud secrets versions access latest --secret db",
    "az account get-access-token",
    "vault kv get secret/db",
    "sops -d secrets.yaml",
    "cat ~/.netrc",
    "cat .env",
    "docker compose config > resolved.yml; cat resolved.yml",
    "printenv >> $GITHUB_STEP_SUMMARY",
    "bash -c 'printenv'",
    'set -x\ncurl -H "Authorization: Bearer $API_TOKEN" https://x.example',
    "set -eux\nlogin --password=$DB_PASSWORD",
    "[[ -n $CI ]] && set -o xtrace\nlogin $RELEASE_TOKEN",
    'curl -v -H "Authorization: Bearer $T" https://x.example',
)
QUIET = (
    "docker compose config --quiet",
    "docker compose config --services",
    "docker compose up -d",
    "config=$(docker compose config)",
    "docker compose config | docker stack deploy -c - shop",
    "env FOO=1 make",
    "env -i bash",
    "/usr/bin/env python3 x.py",
    "printenv HOME",
    "printenv > /dev/null",
    "printenv > /run/app.env",
    "kubectl get pods -o yaml",
    "kubectl get secrets",
    "kubectl get secret db",
    "kubectl config view",
    "kubectl create secret generic db",
    "terraform output",
    "terraform apply -auto-approve",
    "helm get notes shop",
    "TOKEN=$(gh auth token)",
    "gh auth status",
    "gcloud auth print-access-token | docker login -u oauth2accesstoken --password-stdin https://r.example",
    "aws ecr get-login-password | docker login --username AWS --password-stdin r.example",
    "git config user.name x",
    "npm config set registry https://r.example",
    "pip config set a.b c",
    "pip install sops -d x",
    "cat .env.example",
    "cat .env > /dev/null",
    "set -x\nmake -j2",
    "set -x\nmake\nset +x\nlogin $API_TOKEN",
    "# printenv",
    "echo 'run printenv to see'",
    "curl -v https://x.example",
)


@pytest.mark.parametrize("command", PRINTS)
def test_what_prints_secrets(command: str) -> None:
    script = f"#!/bin/bash\n{command}\n"
    assert told("run.sh", script)
    assert told("run.sh", script + "true\n", script) == []


@pytest.mark.parametrize("command", QUIET)
def test_what_prints_none(command: str) -> None:
    assert told("run.sh", f"#!/bin/bash\n{command}\n") == []


STEPS = "jobs:\n  a:\n    needs: env\n    steps:\n"
STEPS += "      - name: env\n        run: {}\n      - env:\n          A: b\n"


@pytest.mark.parametrize(
    ("path", "text", "count"),
    [
        (".github/workflows/a.yml", STEPS.format("printenv"), 1),
        (".github/workflows/a.yml", STEPS.format("|\n          make\n          env | sort"), 1),
        (".github/workflows/a.yml", STEPS.format("make"), 0),
        (".github/workflows/a.yml", STEPS.format("|\n          printenv"), 1),
        (".gitlab-ci.yml", "a:\n  script:\n    - make\n    - env\n  needs:\n    - env\n", 1),
        (".gitlab-ci.yml", 'variables:\n  CI_DEBUG_TRACE: "true"\n', 1),
        ("Makefile", ".PHONY: env\n\nenv:\n\t@printenv\n", 1),
        ("Makefile", ".PHONY: env\n\nenv: a ; make b\n\nenv:\n", 0),
        ("Makefile", "a:\n\tkubectl get secret,configmap -n $(NAMESPACE) -o yaml\n", 1),
        ("Makefile", "a:\n\techo $$(printenv)\n", 0),
        ("Dockerfile", "FROM a\nENV A=b\nRUN env\n", 1),
        ("package.json", '{\n  "scripts": {\n    "a": "printenv | sort",\n    "env": "env-cmd"\n  }\n}\n', 1),
        ("values.yaml", "list:\n  - env\n", 0),
        ("docs/a.md", "printenv\n", 0),
    ],
)
def test_in_the_formats_that_hold_commands(path: str, text: str, count: int) -> None:
    assert len(told(path, text)) == count


def test_a_file_that_is_uploaded() -> None:
    text = STEPS.format("docker compose config > resolved.yml")
    assert told(".github/workflows/a.yml", text) == []
    text += "      - uses: actions/upload-artifact@v4\n        with:\n          path: resolved.yml\n"
    assert told(".github/workflows/a.yml", text) == ["docker compose config"]
