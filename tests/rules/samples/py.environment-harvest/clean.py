import json
import os
import subprocess

home = os.environ.get("HOME")
token = os.environ["API_TOKEN"]
env = os.environ.copy()
env["LANG"] = "C"
subprocess.run(["git", "status"], env=env)
subprocess.run(["make"], env={**os.environ, "CI": "1"})
print(os.environ.get("PATH"))
json.dumps({"home": os.environ["HOME"]})
if "CI" in os.environ:
    pass
os.environ.update(FOO="1")
out = str(subprocess.check_output(["git", "log"], env=dict(os.environ)))
for name in list(os.environ):
    if name.startswith("LC_"):
        del os.environ[name]
