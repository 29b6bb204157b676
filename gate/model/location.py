"""Where in the change a finding points."""

from __future__ import annotations

from typing import Literal

from gate.dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Location:
    """A span of lines in one file of the head tree.

    ``path`` is relative to the repository root, decoded from git's bytes with
    ``os.fsdecode`` semantics (UTF-8, surrogateescape), ``/``-separated. Lines are 1-based
    and inclusive; ``None`` means the whole file.
    """

    path: str
    line: int | None = None
    end_line: int | None = None
    kind: Literal["primary", "related"] = "primary"

    def __post_init__(self) -> None:
        if self.line is not None and self.line < 1:
            raise ValueError(f"line is 1-based, got {self.line}")
        if self.end_line is not None and (self.line is None or self.end_line < self.line):
            raise ValueError(f"end_line {self.end_line} before line {self.line}")
