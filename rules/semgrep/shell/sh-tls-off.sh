# ruleid: sh-tls-off
curl -k https://example.com
# ruleid: sh-tls-off
curl -sSLk https://example.com/x -o x
# ruleid: sh-tls-off
wget --no-check-certificate https://example.com
# ruleid: sh-tls-off
ssh -o StrictHostKeyChecking=no host
# ok: sh-tls-off
curl -sSL https://example.com/k-x -o x
# ok: sh-tls-off
wget https://example.com
