"""What a program leaves in files: planted secrets are found there, and a disk without room is told."""

from __future__ import annotations

import pytest

from gate.model.behaviour import Behaviour
from gate.model.run import Limits, SandboxSpec
from gate.sandbox import canaries
from gate.sandbox.contract import Backend
from gate.tracing.behaviour.reduction import behaviours
from tests.contract.backend_contract import probe
from tests.contract.capabilities import backend_named, capability
from tests.contract.trees import DictTree

BACKEND_NAMES = ("bubblewrap", pytest.param("docker", marks=pytest.mark.engine))
HARVEST = """
import base64, json, os, shutil
with open("/tmp/report.json", "w") as out:
    json.dump(dict(os.environ), out)
with open("/work/tree/cache.bin", "wb") as out:
    out.write(base64.b64encode(open(os.path.expanduser("~/.netrc"), "rb").read()))
shutil.copy(os.path.expanduser("~/.npmrc"), "/tmp/n")
open(os.path.expanduser("~/.pypirc"), "a").close()
os.chmod(os.path.expanduser("~/.pypirc"), 0o600)
os.symlink("/work/home/.ssh/id_rsa", "/tmp/link")
os.mkfifo("/tmp/pipe")
"""
FILL = """
with open("/tmp/fill", "wb", buffering=0) as out:
    try:
        while True: out.write(bytes(1 << 20))
    except OSError: print("full")
"""


@pytest.fixture(params=BACKEND_NAMES)
def backend(request: pytest.FixtureRequest) -> Backend:
    found = backend_named(request.param)
    if not capability(request.param).available:
        pytest.skip(f"{request.param}: {capability(request.param).reason}")
    return found


def _seen(backend: Backend, code: str, kind: str) -> tuple[Behaviour, ...]:
    planted = canaries.plant()
    spec = SandboxSpec(
        canaries=planted,
        files=canaries.as_files(planted),
        env=canaries.as_environment(planted),
        limits=Limits(scratch=32 << 20),
    )
    tree = DictTree(files={"a.py": code})
    with backend.open(spec, tree, tree) as session:
        record = session.run(probe("python3", "a.py"), "head")
        assert record.fault is None
        assert record.completeness.whole
        return tuple(b for b in behaviours(record, planted) if b.kind.value == kind)


def test_planted_secrets_in_files_are_found(backend: Backend) -> None:
    left = {
        (b.detail["canary"], b.detail["to"])
        for b in _seen(backend, HARVEST, "canary")
        if b.detail["channel"] == "file"
    }
    variables = {(f"env:{name}", "/tmp/*") for name in ("GITHUB_TOKEN", "OPENAI_API_KEY", "DATABASE_URL")}
    assert variables <= left
    assert ("netrc", "tree:cache.bin") in left
    assert ("npmrc", "/tmp/*") in left
    assert not {name for name, _ in left} & {"pypirc", "ssh-key"}, "touched or linked: nothing new"


def test_a_disk_without_room_is_a_limit(backend: Backend) -> None:
    assert "disk" in {b.subject for b in _seen(backend, FILL, "limit")}
    assert _seen(backend, "open('/tmp/small', 'w').write('x')\n", "limit") == ()
