"""Which lines of a program hold code, and which of them can do more than compute, in every language.

Nothing here runs, imports or configures anything of the text; parsers run in a limited child process.
What is sensitive in a language is data: ``rules/sensitive-calls/<language>.toml``.
"""
