import os
import socket
import sys

workers = os.cpu_count() or 1
if os.cpu_count() == 1:
    workers = 2
print(socket.gethostname())
if sys.gettrace():
    print("running under a debugger, timeouts are longer")
if sys.platform == "win32":
    sys.exit(1)
