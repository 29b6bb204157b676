"""What a sandbox could leave on the machine: the self-test's own look."""

from __future__ import annotations

from gate.isolation.leftovers import snapshot

__all__ = ["snapshot"]
