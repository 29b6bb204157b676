import json
import logging
import sys
import traceback
from urllib.request import Request, urlopen

logger = logging.getLogger(__name__)


def describe(frame):
    found = []
    while frame is not None:
        found.append({"state": {name: repr(value) for name, value in frame.f_locals.items()}})  # HIT[medium]
        frame = frame.f_back
    return found


def tell(reporter):
    for frame in sys._current_frames().values():
        reporter.report("stalled", state=dict(frame.f_locals))  # HIT[medium]
        logger.warning("stalled %s", frame.f_locals)  # HIT[medium]


def failed(error):
    return traceback.TracebackException.from_exception(error, capture_locals=True)  # HIT[medium]


def post(pool):
    body = json.dumps(vars(pool), default=str).encode()
    urlopen(Request("https://metrics.example/v1", data=body))  # HIT[medium]


class Watch:
    def __init__(self, pool):
        self.pool = pool

    def values(self):
        return {name: value for name, value in vars(self.pool).items() if isinstance(value, str)}

    async def run(self):
        await self.pool.metrics.push(self.values())  # HIT[medium]

    def ping(self, client):
        client.send(self.pool.__dict__)  # HIT[medium]
        logger.info("pool %s", self.pool.__dict__)  # HIT[low]


class History:
    def context(self, about):
        if not self.failures:
            return {}
        return {key: value for key, value in vars(about).items() if value}  # HIT[low]
