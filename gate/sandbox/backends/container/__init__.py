"""Containers by Docker and Podman."""
