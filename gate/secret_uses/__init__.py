"""What a program uses its secrets for, at base and at head, and what head uses them for besides."""
