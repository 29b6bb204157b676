"""What a verb is."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from gate.dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Verb:
    """``arguments`` declares the options on a parser; ``run`` does the work and returns an exit code."""

    name: str
    summary: str
    arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
    description: str = ""
    epilog: str = ""
