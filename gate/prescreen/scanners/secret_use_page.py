"""The page of the rule secret-use-changed."""

from __future__ import annotations

from typing import Final

PAGE: Final = """
## What is compared
"""
