# ruleid: sh-root-without-password
echo "ci ALL=(ALL) NOPASSWD:ALL" >> /etc/sudoers
# ruleid: sh-root-without-password
usermod -aG docker ci
# ruleid: sh-root-without-password
chmod u+s /tmp/sh
# ok: sh-root-without-password
sudo apt-get install -y git
