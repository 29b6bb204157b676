import ssl

first = ssl.SSLContext(ssl.PROTOCOL_TLSv1)  # HIT[medium]
second = ssl.SSLContext(protocol=ssl.PROTOCOL_SSLv3)  # HIT
third = ssl.create_default_context()
third.minimum_version = ssl.TLSVersion.TLSv1  # HIT
