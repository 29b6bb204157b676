"""Calls whose function, class or module is chosen by a name that the program computes."""
