"""Seccomp filters that make the kernel or gVisor report."""
