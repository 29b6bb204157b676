# ruleid: sh-credential-read
cat ~/.ssh/id_rsa
# ruleid: sh-credential-read
tar czf x.tgz "$HOME/.aws/credentials"
# ruleid: sh-credential-read
cat /etc/shadow
# ok: sh-credential-read
cat ~/.ssh/id_rsa.pub
# ok: sh-credential-read
mkdir -p ~/.ssh
# ok: sh-credential-read
cp config ~/.config/app
