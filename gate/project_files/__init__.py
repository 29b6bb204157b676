"""What `gate init` writes into a repository, and the JSON Schema by which editors complete gate.toml."""
