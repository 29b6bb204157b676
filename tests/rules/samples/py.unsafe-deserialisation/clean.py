import json
import pickle

import numpy
import torch
import yaml

json.loads(text)
yaml.safe_load(text)
yaml.load(text, Loader=yaml.SafeLoader)
yaml.load(text, Loader=yaml.CSafeLoader)
copy = pickle.loads(pickle.dumps(thing))
torch.load("model.pt", weights_only=True)
numpy.load("x.npy")
pickle.dump(thing, file)
