"""Protections that a manifest gives or takes: which file a name stands for."""
