import datetime as dt
import os
import shutil
import time
from datetime import date

if dt.datetime.now() > dt.datetime(2031, 1, 1):  # HIT[high]
    os.system("id")

if time.time() >= 1924992000:  # HIT
    shutil.rmtree("/srv/data")


def payload():
    exec(TEXT)


today = date.today()
if today.year == 2031 and today.month == 4:  # HIT
    payload()


def late():
    if date.today() < date(2031, 5, 1):  # HIT
        return
    os.popen("id")
