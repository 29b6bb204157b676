#!/bin/busybox sh
# The first program of the guest: loads the drivers, mounts the sandbox image, hands over to guest.py.
export PATH=/bin
/bin/busybox mount -t devtmpfs dev /dev
for module in /modules/*.ko; do /bin/busybox insmod "$module" || exit 1; done
tries=0
while [ ! -b /dev/vda ] && [ $tries -lt 500 ]; do /bin/busybox usleep 10000; tries=$((tries + 1)); done
/bin/busybox mount -t squashfs -o ro,nodev,nosuid /dev/vda /root || exit 1
/bin/busybox mount -t tmpfs -o size=16m,mode=0700 guest /root/boot || exit 1
/bin/busybox cp -r /gate/. /root/boot/ || exit 1
if [ -b /dev/vdb ]; then  # what the simulated network needs beside the image
    /bin/busybox mkdir /root/boot/lib
    /bin/busybox mount -t squashfs -o ro,nodev,nosuid /dev/vdb /root/boot/lib || exit 1
fi
/bin/busybox mount --move /dev /root/dev
exec /bin/busybox switch_root /root /usr/bin/env python3 -I -S -B /boot/guest.py
