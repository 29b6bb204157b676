import ssl

first = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
second = ssl.create_default_context()
second.minimum_version = ssl.TLSVersion.TLSv1_2
