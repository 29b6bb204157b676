"""A network that answers everything and leads nowhere; runs beside a sandbox, in its network namespace.

Uses the standard library, dnslib, h11 and cryptography only: it also runs inside the sinkhole container.
"""
