"""What to run for a change, and with which values."""
