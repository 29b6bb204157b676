"""What one file does with secrets: plain values, so that a child can send them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Way = Literal[
    "mixed", "header", "answer", "error", "log", "file", "sent", "delay", "label", "bundle",
]  # fmt: skip
"""Where it goes. ``mixed``: it is computed with, character by character, outside of a cipher."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Use:
    """One use that is neither authentication nor a check.

    ``secret``: its name as written. ``sink``: what it is given to. ``function``: where it stands. ``marks``:
    what was done to it on its way (flow.py). ``source``: the line where it is taken. ``whole``: no single
    value, but all settings; ``origin``: the module that they come from, as imported; empty where only a name
    says that they are settings.
    """

    secret: str
    way: Way
    sink: str
    function: str
    line: int
    source: int
    marks: tuple[str, ...] = ()
    whole: bool = False
    origin: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class FileUses:
    """Of one file: ``uses``; ``held``: names of secrets that it defines, as a module of settings does;
    ``unreadable``: why it was not read, empty otherwise.
    """

    uses: tuple[Use, ...] = ()
    held: tuple[str, ...] = ()
    unreadable: str = ""
