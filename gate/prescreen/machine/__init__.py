"""Where random values come from, and what is decided by facts of the machine or of the test run."""
