"""What a shell script protects itself with: the reader for protections of both sides."""
