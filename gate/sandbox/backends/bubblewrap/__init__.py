"""Namespaces made by bubblewrap, without an engine."""
