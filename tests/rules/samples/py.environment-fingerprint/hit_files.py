import os
import threading


def alone():
    marks = [os.path.exists("/.dockerenv")]
    marks.append("TracerPid:\t0" in open("/proc/self/status").read())
    marks.append(threading.gettrace() is not None)
    marks.append(float(open("/proc/uptime").read().split()[0]) < 60)  # HIT
    return any(marks)
