"""The contract of a backend, sessions, the launcher protocol, the pool."""
