"""What was found out once, kept by content and sealed, so that it need not be found out again."""
