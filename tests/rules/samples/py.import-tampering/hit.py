import builtins
import hmac
import sys

builtins.open = my_open  # HIT[high]
setattr(builtins, "exec", my_exec)  # HIT[high]
sys.meta_path.insert(0, Finder())  # HIT[medium]
hmac.compare_digest = lambda a, b: True  # HIT
sys.path.insert(0, "/tmp/plugins")  # HIT[medium]
