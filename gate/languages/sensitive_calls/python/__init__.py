"""Python's sensitive calls, by following values through its syntax tree instead of names through its text."""
