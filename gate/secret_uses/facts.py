"""What one file does with secrets: plain values, so that a child can send them."""

from __future__ import annotations

from typing import Literal

from gate.dataclass import dataclass

Way = Literal[
    "mixed", "header", "answer", "error", "log", "file", "sent", "delay", "label", "bundle",
    "returned", "key",
]  # fmt: skip
"""Where it goes. ``mixed``: it is computed with, character by character, outside of a cipher.
``returned``: a function gives all of it back, within another object. ``key``: of an entry of a cache."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Use:
    """One use that is neither authentication nor a check.

    ``secret``: its name as written. ``sink``: what it is given to. ``function``: where it stands. ``marks``:
    what was done to it on its way (flow.py). ``source``: the line where it is taken. ``whole``: no single
    value, but all settings; ``origin``: the module that they come from, as imported; empty where only a name
    says that they are settings. ``faint``: no name says that it is a secret; ``setting``: a value of the
    configuration, ``attr``: any attribute, of which ``origin`` is the owner, ``field``: of a template.
    ``user``: it is a secret of a user (user_secrets.py) and none of the application.
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
    faint: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """What a function does with one of its parameters, told again for every value that it is given."""

    parameter: str
    marks: tuple[str, ...]
    way: Way
    sink: str
    line: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Back:
    """What a function gives back in pieces: of a parameter (then ``secret`` is the function and ``origin``
    the parameter) or of a secret of a user.
    """

    secret: str
    kind: str
    origin: str
    marks: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Outline:
    """A function that takes a parameter to pieces, for the files that call it."""

    name: str
    parameters: tuple[str, ...]
    hits: tuple[Hit, ...]
    backs: tuple[Back, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class FileUses:
    """Of one file: ``uses``; ``keys``: attributes (``owner.name``) that sign, encrypt or log in there;
    ``outlines``: its functions that take a parameter to pieces; ``held``: names of secrets that it defines,
    as a module of settings does;
    ``asked``: functions of other files that secrets of users are given to;
    ``unreadable``: why it was not read, empty otherwise.
    """

    uses: tuple[Use, ...] = ()
    held: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    outlines: tuple[Outline, ...] = ()
    asked: tuple[str, ...] = ()
    unreadable: str = ""
