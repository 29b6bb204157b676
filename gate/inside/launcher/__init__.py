"""The first process inside every sandbox. Standard library only."""
