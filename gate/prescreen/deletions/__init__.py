"""What deletions of a program take: the loops around them, and the counts of what stays."""
