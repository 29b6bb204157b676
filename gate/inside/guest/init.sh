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
for disk in b c; do  # beside the image: libraries of the simulated network, installed dependencies
    [ -b /dev/vd$disk ] || break
    /bin/busybox mkdir /root/boot/disk-$disk
    /bin/busybox mount -t squashfs -o ro,nodev,nosuid /dev/vd$disk /root/boot/disk-$disk || exit 1
done
/bin/busybox mount --move /dev /root/dev
exec /bin/busybox switch_root /root /usr/bin/env python3 -I -S -B /boot/main.py
