"""Computed numbers (sums, counters, remainders) that decide about access, money or a deletion."""
