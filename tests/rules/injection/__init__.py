"""Holes and twins that only look alike: rule, text with the hole, text without it."""
