import ssl

import requests

requests.get("https://example.com", verify="ca.pem")
context = ssl.create_default_context()
context.verify_mode = ssl.CERT_REQUIRED
requests.get("https://example.com", verify=flag)
ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
