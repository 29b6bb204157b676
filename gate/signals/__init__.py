"""Turns new behaviour into findings: one file for each rule in ``rules``."""
