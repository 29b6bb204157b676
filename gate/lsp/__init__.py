"""`gate lsp`: gate in an editor (Language Server Protocol), on standard input and output."""
