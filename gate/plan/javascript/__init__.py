"""What to run of JavaScript and TypeScript."""
