import requests


class Config:
    def __init__(self, verify):
        self.verify = verify


def config(ca):
    return Config(verify=ca or False)  # HIT[medium]


def ask(settings):
    session = requests.Session()
    session.verify = settings.verify
    return session
