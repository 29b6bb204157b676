"""Joins policy, report and forge: what is told on GitHub, and what people answered there."""
