"""Reporters: one report in, one text out, no judgement added."""
