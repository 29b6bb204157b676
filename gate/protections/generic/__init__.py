"""Protections in languages without a reader of their own, from their grammars."""
