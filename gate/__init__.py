"""gate: a CI/CD security gate that runs untrusted changes before people merge them."""

__version__ = "0.1.0"
