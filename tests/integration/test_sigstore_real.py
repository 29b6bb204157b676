"""A real sigstore bundle, signed in GitHub Actions through the public instance, verified without a network.

It comes with the source distribution of `pypi-attestations` (Apache-2.0), which pip fetches when it is first
needed; nothing of it is kept in this repository.
"""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from urllib.parse import quote

import msgspec
import pytest

from gate.cli import main
from gate.deploy import sigstore as keyless
from gate.deploy.statement import PAYLOAD_TYPE, BadStatementError, pae
from gate.errors import UsageError
from tests.forge.standin.fetch import sdist

pytest.importorskip("sigstore", reason="the optional extra `sigstore` is not installed")

PACKAGE = "pypi-attestations==0.0.30"
FILE = "pypi_attestation_models-0.0.4a2.tar.gz.sigstore"
IDENTITY = (
    "https://github.com/trailofbits/pypi-attestation-models/.github/workflows/release.yml@refs/tags/v0.0.4a2"
)
ISSUER = "https://token.actions.githubusercontent.com"


@pytest.fixture(scope="module")
def real() -> tuple[bytes, bytes]:
    """The bytes that were signed, and the bundle."""
    folder = sdist(PACKAGE, (f"test/assets/{FILE}",))
    bundle = (folder / FILE).read_bytes()
    return pae(base64.b64decode(json.loads(bundle)["dsseEnvelope"]["payload"])), bundle


def _ours(bundle: bytes, payload: bytes) -> bytes:
    """The file that `gate sign` would have written around it."""
    told = {"payloadType": PAYLOAD_TYPE, "payload": base64.b64encode(payload).decode()}
    return msgspec.json.encode({**told, "bundle": msgspec.Raw(bundle)})


def _root(instance: str) -> Path:
    import sigstore

    store = Path(sigstore.__file__).parent / "_store"
    return store / quote(f"https://tuf-repo-cdn.{instance}", safe="") / "trusted_root.json"


@pytest.mark.parametrize("root", [None, "sigstore.dev"], ids=["built-in", "given"])
def test_what_github_actions_signed_is_believed(real: tuple[bytes, bytes], root: str | None) -> None:
    keyless.vouched(*real, IDENTITY, ISSUER, root=_root(root) if root else None)


@pytest.mark.parametrize(
    ("identity", "issuer"),
    [
        (IDENTITY.replace("v0.0.4a2", "v0.0.4a3"), ISSUER),
        (IDENTITY.replace("trailofbits", "mallory"), ISSUER),
        (IDENTITY[:-1], ISSUER),
        ("", ISSUER),
        (IDENTITY, "https://accounts.example"),
    ],
)
def test_nobody_else_is(real: tuple[bytes, bytes], identity: str, issuer: str) -> None:
    with pytest.raises(BadStatementError, match="does not vouch"):
        keyless.vouched(*real, identity, issuer)


def test_nothing_else_is(real: tuple[bytes, bytes]) -> None:
    signed, bundle = real
    with pytest.raises(BadStatementError):
        keyless.vouched(signed + b"\0", bundle, IDENTITY, ISSUER)
    told = json.loads(bundle)
    told["verificationMaterial"]["tlogEntries"] = []
    with pytest.raises(BadStatementError):
        keyless.vouched(signed, json.dumps(told).encode(), IDENTITY, ISSUER)
    with pytest.raises(BadStatementError):
        keyless.vouched(signed, bundle, IDENTITY, ISSUER, root=_root("sigstage.dev"))
    with pytest.raises(UsageError):
        keyless.vouched(signed, bundle, IDENTITY, ISSUER, root=Path(os.devnull))


def test_a_good_bundle_over_something_else_is_refused(real: tuple[bytes, bytes]) -> None:
    with pytest.raises(BadStatementError, match="over another statement"):
        keyless.verify_keyless(_ours(real[1], b"{}"), IDENTITY, ISSUER)


def test_a_good_signature_does_not_make_it_a_verdict(
    real: tuple[bytes, bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The whole path with a real signature: it holds, and then what was signed is no statement of gate."""
    payload = base64.b64decode(json.loads(real[1])["dsseEnvelope"]["payload"])
    file = tmp_path / "statement"
    file.write_bytes(_ours(real[1], payload))
    root = ["--trusted-root", str(_root("sigstore.dev"))]
    assert main(["verify", "--statement", str(file), "--identity", IDENTITY, *root]) == 1
    assert "not a statement of gate" in capsys.readouterr().err
    assert main(["verify", "--statement", str(file), "--identity", IDENTITY + "x", *root]) == 1
    assert "does not vouch" in capsys.readouterr().err
