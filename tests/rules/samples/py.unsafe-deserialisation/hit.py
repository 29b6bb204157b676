import pickle as p

import cPickle
import marshal
import torch
import yaml
from flask import request
from pickle import loads


def read(path):
    with open(path, "rb") as f:
        return p.load(f)  # HIT[medium]


def view():
    data = bytes.fromhex(request.args.get("data"))
    return loads(data)  # HIT[high]


cPickle.loads(x)  # HIT
marshal.loads(x)  # HIT
torch.load("model.pt")  # HIT
yaml.load(text)  # HIT
yaml.load(text, Loader=yaml.Loader)  # HIT
yaml.load(text, yaml.UnsafeLoader)  # HIT
