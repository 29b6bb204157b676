"""The registry of backends and the choice between them."""
