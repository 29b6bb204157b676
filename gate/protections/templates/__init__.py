"""Protections in templates of pages."""
