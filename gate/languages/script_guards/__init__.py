"""Conditions of scripts that ordinary use does not meet, and the dangerous calls behind them."""
