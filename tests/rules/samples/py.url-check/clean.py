from urllib.parse import urlparse


def check(url, path, allowed):
    host = urlparse(url).hostname
    if host == "example.com" or host.endswith(".example.com"):
        return True
    if path.endswith("readme.md") or url.endswith(".tar.gz") or url.endswith("/"):
        return False
    return host in allowed
