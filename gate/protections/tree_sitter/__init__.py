"""What readers of tree-sitter trees share."""
