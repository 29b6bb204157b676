"""Flags, variables and aliases by which something else is compiled or loaded than what one reads."""
