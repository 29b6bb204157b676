"""Protections in JavaScript and TypeScript."""
