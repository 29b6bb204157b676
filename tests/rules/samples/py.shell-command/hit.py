import asyncio
import os
import subprocess
from subprocess import Popen as P

from flask import Flask, request

app = Flask(__name__)


def lists(folder):
    subprocess.run(f"ls {folder}", shell=True)  # HIT[medium]
    os.system("ls " + folder)  # HIT[medium]
    P("ls %s" % folder, shell=True)  # HIT[medium]
    subprocess.run(["bash", "-c", "ls " + folder])  # HIT[medium]
    subprocess.run("ls {}".format(folder), **{"shell": True})  # HIT[medium]


@app.route("/ping")
def ping():
    host = request.args.get("host")
    os.popen("ping " + host)  # HIT[high]
    subprocess.run([host, "-c"])  # HIT[high]


async def go(cmd):
    await asyncio.create_subprocess_shell(cmd)  # HIT[medium]
