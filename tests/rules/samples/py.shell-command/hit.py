import asyncio
import os
import subprocess
from subprocess import Popen as P
from typing import Literal
from enum import Enum

from fastapi import APIRouter
from flask import Flask, request

app = Flask(__name__)
router = APIRouter()


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


class Loose(str, Enum):
    worker = "worker"

    @classmethod
    def _missing_(cls, value):
        made = str.__new__(cls, value)
        made._value_ = value
        return made


@router.post("/service/{unit}")
def status(unit: Loose):
    subprocess.run(f"systemctl status {unit.value}", shell=True)  # HIT[high]


class Unit(str, Enum):
    worker = "worker"
    mailer = "mailer"


@router.post("/service/{unit}")
def status_of_one(unit: Unit, level: Literal["info", "debug"] = "info", other: Unit | None = None):
    subprocess.run(f"systemctl status app-{unit.value} --output={level} {other}", shell=True)  # HIT[low]
