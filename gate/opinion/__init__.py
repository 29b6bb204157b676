"""A second opinion by a language model: off by default, advice only (docs/opinion.md)."""
