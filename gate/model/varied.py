"""What depends on planted secrets: programs run again with the same ones and with others."""

from __future__ import annotations

from typing import Literal

from gate.dataclass import dataclass

Place = Literal["away", "tree", "log", "command", "machine", "time"]
"""Where the channel leads: off the machine, into the tree, into what is printed, to a program on its command
line, into other files of the machine, into how long is slept."""
How = Literal["content", "size", "count", "order", "presence"]
"""What of the channel follows the secret: its bytes; where those vary by themselves their number, how many
pieces there are, or their order; or whether there is anything at all."""


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Channel:
    """One field of what a program gives away: ``kind`` (``http``, ``dns``, ``stdout`` ...), ``to`` whom and
    which ``part`` of it (``header x-id``). The last two hold text of the change: untrusted.
    """

    kind: str
    to: str = ""
    part: str = ""

    @property
    def place(self) -> Place:
        """Where it leads."""
        if self.kind in ("stdout", "stderr"):
            return "log"
        if self.kind in ("file", "file-name"):
            return "tree" if self.to == "tree" else "machine"
        return {"argv": "command", "sleep": "time"}.get(self.kind, "away")  # type: ignore[return-value]

    @property
    def shown(self) -> str:
        """For people: ``http collector.example header x-id``."""
        return " ".join(part for part in (self.kind, self.to, self.part) if part)


@dataclass(frozen=True, kw_only=True, slots=True)
class Dependence:
    """One channel whose bytes follow the secret. ``first`` and ``other`` are what was seen with each set, as
    the first twelve hex digits of its SHA-256; ``sizes`` its bytes. ``path`` is the changed file of the
    probe.
    """

    channel: Channel
    how: How
    first: str
    other: str
    sizes: tuple[int, int]
    probe: str
    target: str
    path: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Doubt:
    """Bytes that go off the machine and vary by themselves, in a run that asked for these ``secrets`` (names
    of variables or decoys): nobody knows whether one is in them. ``path`` is the changed file of the probe.
    """

    channel: Channel
    secrets: tuple[str, ...]
    target: str
    path: str


@dataclass(frozen=True, kw_only=True, slots=True)
class VariedSecrets:
    """What came of the look. ``undecided``: channels that vary by themselves, of which nothing decides, with
    the target they were seen in. ``doubted``: those of them that lead off the machine, where a planted secret
    was asked for and the one or the other is new. ``left``: probes that were to be looked at and were not,
    and why.
    """

    dependences: tuple[Dependence, ...] = ()
    undecided: tuple[tuple[str, str, Channel], ...] = ()
    """Path, target, channel."""
    doubted: tuple[Doubt, ...] = ()
    probes: int = 0
    runs: int = 0
    left: tuple[tuple[str, str, str], ...] = ()
    """Path, target, reason."""

    def joined(self, other: VariedSecrets, left: tuple[tuple[str, str, str], ...]) -> VariedSecrets:
        """Both looks as one; ``left`` is what one of them could not look at."""
        return VariedSecrets(
            dependences=self.dependences + tuple(d for d in other.dependences if d not in self.dependences),
            undecided=tuple(dict.fromkeys(self.undecided + other.undecided)),
            doubted=tuple(dict.fromkeys(self.doubted + other.doubted)),
            probes=max(self.probes, other.probes),
            runs=self.runs + other.runs,
            left=left,
        )
