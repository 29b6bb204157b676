import os
import signal
import subprocess

import psutil

child = subprocess.Popen(["sleep", "60"])
child.kill()
os.kill(child.pid, signal.SIGTERM)
os.kill(os.getpid(), signal.SIGINT)


def alive(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


for process in psutil.Process().children(recursive=True):
    process.terminate()
print([process.name() for process in psutil.process_iter()])
with open("server.pid") as file:
    os.kill(int(file.read()), signal.SIGHUP)
print("do not kill the process")
