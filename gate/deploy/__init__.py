"""May this commit be deployed; signed statements of verdicts."""
