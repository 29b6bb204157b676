"""Images and runtimes for the inside."""
