import os

import flask_secure_jwt_helper_pro  # HIT[low]
from quick_safe_yaml_ng.loader import load  # HIT

flask_secure_jwt_helper_pro.protect(load(os.environ["A"]))
