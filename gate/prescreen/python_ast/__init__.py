"""The syntax tree of a Python file with names, constants and data flow resolved."""
