"""GitHub's API, and what is published there."""
