"""Behaviour rules, one a file: the module's docstring is the page, ``check`` is the rule."""
