"""`gate mcp`: gate as tools of a coding agent (Model Context Protocol), on standard input and output."""
