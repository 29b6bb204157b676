"""Instrumented copies of JavaScript and TypeScript."""
