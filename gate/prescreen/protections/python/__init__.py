"""Protections in Python."""
