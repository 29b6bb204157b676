"""Whose something is, and who gets it: keys of caches and limits, receivers, approvals that are counted."""
