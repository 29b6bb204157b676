"""What the limited child says of one file: where values come from, where they go, who calls whom."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from gate.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Taint:
    """One origin of a value. ``kind``: a source (``number``: its line; ``text``: its kind and name),
    parameter
    ``index`` of function ``number``, or what call ``number`` gives. ``tags``: what it is safe for, and marks.
    """

    kind: Literal["source", "parameter", "result"]
    number: int
    index: int
    text: str
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Function:
    """A function. ``owner``: its class, or empty."""

    number: int
    name: str
    owner: str
    line: int
    parameters: list[str]
    returns: list[Taint] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Call:
    """A call that may be of a function of the project. ``path``: what is called, as it is resolved by
    imports;
    ``kind``: the type of what a method is called on; ``arguments``: what each may hold, the receiver's last.
    """

    number: int
    function: int
    path: str
    kind: str
    line: int
    keys: list[str]
    arguments: list[list[Taint]]


@dataclass(frozen=True, slots=True)
class Hit:
    """Values that reach a sink. ``sink``: the call as it is written; ``needs``: marks of which the
    way has one.
    """

    rule: str
    line: int
    end: int
    function: int
    sink: str
    taints: list[Taint]
    needs: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class FileFlows:
    """All of a file. ``imports``: local name, module, name there. ``package``: of Go, its folder's."""

    functions: list[Function]
    calls: list[Call]
    hits: list[Hit]
    imports: list[tuple[str, str, str]]
    unfinished: list[str] = field(default_factory=list)
