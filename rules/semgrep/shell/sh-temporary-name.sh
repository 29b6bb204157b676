# ruleid: sh-temporary-name
TMP=/tmp/build.$$
# ruleid: sh-temporary-name
echo x > "/var/tmp/log-$RANDOM"
# ok: sh-temporary-name
TMP=$(mktemp /tmp/build.XXXXXX)
# ok: sh-temporary-name
kill -9 $$
