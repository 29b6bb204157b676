"""Calls guards with values that are drawn from what they compare with (docs/guard-calls.md)."""
