import builtins
import sys

sys.path.insert(0, "src")
original = builtins.open
sys.stdout = stream
module.open = my_open
sys.excepthook = show
