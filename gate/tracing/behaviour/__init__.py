"""Events reduced to normalised behaviours."""
