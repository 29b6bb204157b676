"""Functions with the order of their parameters, and calls with what they give at which place."""
