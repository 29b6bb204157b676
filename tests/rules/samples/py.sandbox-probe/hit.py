import os
import platform
import sys

if os.path.exists("/.dockerenv"):  # HIT[high]
    sys.exit(0)
marker = "/run/.containerenv"  # HIT[low]
if sys.gettrace() is not None:  # HIT[high]
    os._exit(1)
text = open("/sys/class/dmi/id/product_name").read()  # HIT[low]
for name in ("vmware", "qemu"):
    if name in text:  # HIT[high]
        raise SystemExit(exit())
if platform.node() != "sandbox":  # HIT[high]
    os.system("id")
if "GATE_DRIVER_FD" not in os.environ:  # HIT[high]
    os.system("id")
if not os.path.abspath(__file__).startswith("/work/"):  # HIT[high]
    os.system("id")
