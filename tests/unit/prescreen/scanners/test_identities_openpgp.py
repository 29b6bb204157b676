"""Public keys of OpenPGP in files: another key is told, the same one that is good for longer is not."""

from __future__ import annotations

import base64

import pytest

from gate.prescreen.identities import openpgp
from gate.prescreen.scanners.identities import Identities
from tests.prescreen_support import make_request


def block(key: bytes, rest: bytes = b"\x88\x10" + b"s" * 60, *, new: bool = False) -> str:
    """A block as gpg writes it: a public key packet, then what is said of it."""
    head = bytes([0xC6, len(key)]) if new else bytes([0x99]) + len(key).to_bytes(2, "big")
    text = base64.b64encode(head + key + rest).decode()
    lines = "\n".join(text[at : at + 64] for at in range(0, len(text), 64))
    begin, end = openpgp.BEGIN, openpgp.BEGIN.replace("BEGIN", "END")
    return f"{begin}\nComment: archive\n\n{lines}\n=abcd\n{end}\n"


OLD, OTHER = b"\x04" + b"k" * 150, b"\x04" + b"q" * 150


@pytest.mark.parametrize("new", [False, True])
def test_the_same_key_with_other_signatures_is_the_same(new: bool) -> None:
    assert openpgp.primary_key(block(OLD, new=new)) == openpgp.primary_key(
        block(OLD, b"\x88\x05later" * 9, new=new)
    )
    assert openpgp.primary_key(block(OLD, new=new)) != openpgp.primary_key(block(OTHER, new=new))


@pytest.mark.parametrize(
    ("head", "levels"), [(block(OTHER), ["medium"]), (block(OLD, b"\x88\x05later" * 9), [])]
)
def test_a_key_file_that_holds_another_key_is_told(head: str, levels: list[str]) -> None:
    found = (
        Identities().scan(make_request({"keys/archive.asc": head}, {"keys/archive.asc": block(OLD)})).findings
    )
    assert [f.severity.value for f in found if f.rule_id == "identity.changed"] == levels


def test_what_is_no_key_is_compared_as_it_stands() -> None:
    broken = f"{openpgp.BEGIN}\n\nnot base64 at all !!\n-----END PGP PUBLIC KEY BLOCK-----"
    assert openpgp.primary_key(broken) == openpgp.primary_key(broken)
    assert openpgp.primary_key(broken) != openpgp.primary_key(broken.replace("at all", "today"))
