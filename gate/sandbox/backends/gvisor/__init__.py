"""Containers on gVisor."""
