import os
import subprocess

import numpy as np
import yaml
from bs4 import BeautifulSoup
from dateutil import parser
from PIL import Image

from . import sibling
from .other import thing

try:
    import very_special_accelerator
except ImportError:
    very_special_accelerator = None
