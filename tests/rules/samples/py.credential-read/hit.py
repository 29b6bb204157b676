import os
import pathlib
import subprocess
from pathlib import Path

key = open(os.path.expanduser("~/.ssh/id_rsa")).read()  # HIT[high]
aws = Path.home() / ".aws/credentials"  # HIT[medium]
print(aws.read_text())  # HIT[high]
with open("/etc/shadow") as f:  # HIT[high]
    f.read()
secret = pathlib.Path(os.path.join(home, ".kube", "config")).read_text()  # HIT[high]
subprocess.run(["cat", "/etc/shadow"])  # HIT[high]
people = open("/etc/passwd").readlines()  # HIT[medium]
TARGETS = [
    "~/.docker/config.json",  # HIT[medium]
    "~/.pypirc",  # HIT[medium]
]
url = "http://169.254.169.254/latest/meta-data/iam/security-credentials/"  # HIT[medium]
