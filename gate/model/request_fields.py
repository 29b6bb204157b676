"""What base and head say in the same request to the same host, field by field."""

from __future__ import annotations

from gate.dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class FieldChange:
    """One field of a request (or a mail) that head fills otherwise than base, in the same probe.

    ``request`` names it (``POST /api/postMessage``, ``mail``), ``part`` the field (``body.channel``,
    ``header x-org-id``, ``recipient``). ``before`` is empty where base has no such field. ``names_whom``: its
    name says that it tells whose account, channel or mailbox is meant. All text is untrusted.
    """

    host: str
    request: str
    part: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    names_whom: bool
    probe: str

    @property
    def is_new(self) -> bool:
        """Has base no such field at all?"""
        return not self.before
