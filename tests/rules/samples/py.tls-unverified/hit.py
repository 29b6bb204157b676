import ssl

import httpx
import requests

requests.get("https://example.com", verify=False)  # HIT[medium]
httpx.Client(verify=False)  # HIT
context = ssl.create_default_context()
context.check_hostname = False  # HIT
context.verify_mode = ssl.CERT_NONE  # HIT
ssl._create_default_https_context = ssl._create_unverified_context  # HIT
session = requests.Session()
session.verify = False  # HIT
session.get("https://example.com", verify=False)  # HIT


async def aio(url):
    import aiohttp

    async with aiohttp.ClientSession() as client, client.get(url, ssl=False) as answer:  # HIT
        return answer


def pool():
    import urllib3

    return urllib3.PoolManager(cert_reqs="CERT_NONE")  # HIT
