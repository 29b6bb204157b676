"""Values only: frozen, keyword-only, no input or output. Every room speaks in these."""
