"""One reader a source of events."""
