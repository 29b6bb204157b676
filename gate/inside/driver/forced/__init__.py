"""Runs a line that nothing reached: its function is compiled anew with the conditions on the way decided."""
