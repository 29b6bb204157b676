"""What values may be when a function runs: read forwards, statement by statement, without running any."""
