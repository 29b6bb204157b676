"""Protections of a program at base and at head: what the change removes or loosens."""
