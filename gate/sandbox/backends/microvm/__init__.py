"""Virtual machines by QEMU and Firecracker."""
