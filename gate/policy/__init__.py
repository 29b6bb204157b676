"""Judges: findings and stages in, score and verdict out. Every number is in rules/policy.toml."""
