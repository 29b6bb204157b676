import getpass
import os
import socket

import psutil


def real():
    small = os.cpu_count() < 3
    memory = psutil.virtual_memory().total
    little = memory < 2_000_000_000
    name = socket.gethostname()
    return not (small or little or name.startswith("x") or name == "localhost" or getpass.getuser() == "dev")  # HIT
