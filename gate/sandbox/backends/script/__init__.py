"""Language runtimes as sandboxes, inside bubblewrap."""
