import os
import socket
import subprocess

server = socket.socket()
server.bind(("127.0.0.1", 0))
null = os.open(os.devnull, os.O_RDWR)
os.dup2(null, 1)
os.dup2(log.fileno(), 2)
subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=open("log", "w"))
print("run nc -l to listen")
