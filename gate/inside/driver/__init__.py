"""Runs the code under test, one item after another, inside the sandbox. Standard library only."""
