"""The host's end of the simulated network."""
