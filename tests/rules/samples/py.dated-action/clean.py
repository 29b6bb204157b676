import datetime as dt
import os
import time

started = time.time()
if time.time() - started > 60:
    os.remove("lock")
if cache_time + 3600 < time.time():
    os.remove("cache")
if dt.date.today() > dt.date(2031, 1, 1):
    print("this certificate has expired")
expires = dt.datetime.now() + dt.timedelta(days=1)
if expires < dt.datetime.now():
    os.remove("old")
