"""Source text of any language as data. Nothing here runs or imports it; parsers run in a limited child."""
