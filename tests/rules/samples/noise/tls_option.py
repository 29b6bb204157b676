"""A client that lets its caller switch verification off, as httpx does."""
import ssl


def make(verify=True):
    context = ssl.create_default_context()
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
