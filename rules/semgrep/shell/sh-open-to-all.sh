# ruleid: sh-open-to-all
chmod -R 777 /srv
# ruleid: sh-open-to-all
chmod a+rwx run.sh
# ok: sh-open-to-all
chmod 755 run.sh
# ok: sh-open-to-all
chmod +x run.sh
