"""Copies of JavaScript, TypeScript and shell in which one line is run whatever its conditions say."""
