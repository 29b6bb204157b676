from urllib.parse import urlparse


def check(url, domain):
    if url.endswith("example.com/"):  # HIT[medium]
        return True
    host = urlparse(url)
    if host.netloc.endswith("example.com"):  # HIT
        return True
    other = urlparse(domain)
    return other.netloc in host.netloc or host.netloc.endswith(other.netloc)  # HIT
