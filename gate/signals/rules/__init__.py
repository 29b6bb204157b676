"""Behaviour rules, one a file: the docstring is the page, ``META``, ``check``, ``RULE``."""
