import os
import signal
import subprocess

import psutil

for process in psutil.process_iter(["name"]):
    if process.info["name"] == "sshd":
        process.kill()  # HIT[medium]

out = subprocess.run(["pgrep", "-f", "sshd"], capture_output=True, text=True).stdout.split()
for number in out:
    os.kill(int(number), signal.SIGTERM)  # HIT[medium]

for name in os.listdir("/proc"):
    if name.isdigit():
        os.kill(int(name), signal.SIGKILL)  # HIT[medium]

os.system("pkill -9 nginx")  # HIT[medium]
subprocess.run(["killall", "node"])  # HIT[medium]
os.system("kill -9 $(pidof redis-server)")  # HIT[medium]
os.system("ps aux | grep java | awk '{print $2}' | xargs kill")  # HIT[medium]
