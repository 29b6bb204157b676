# ruleid: sh-foreign-files
rm -rf /root/essential_config
# ruleid: sh-foreign-files
if [ -f /home/test/secret.txt ]; then rm -f /home/test/secret.txt; fi
# ruleid: sh-foreign-files
sudo mv /etc/hosts /etc/hosts.old
# ruleid: sh-foreign-files
cp build/tool /usr/bin/ls
# ruleid: sh-foreign-files
shred -u /var/log/auth.log
# ruleid: sh-foreign-files
truncate -s 0 /srv/data.db
# ruleid: sh-foreign-files
rm -r ~/Documents
# ok: sh-foreign-files
rm -rf /var/lib/apt/lists/*
# ok: sh-foreign-files
rm -rf /root/.cache /tmp/build
# ok: sh-foreign-files
cat /etc/hosts
# ok: sh-foreign-files
cp /etc/hosts hosts.copy
# ok: sh-foreign-files
rm -rf build dist
# ok: sh-foreign-files
echo "do not rm /etc/hosts"
