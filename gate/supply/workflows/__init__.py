"""GitHub workflows by meaning: both versions as values, and what changed between them."""
