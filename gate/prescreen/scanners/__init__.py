"""One scanner a file."""
