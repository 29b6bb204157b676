# ruleid: sh-secret-in-address
git clone https://ci:ghp_abcdefgh12345678@git.example/x.git
# ok: sh-secret-in-address
git clone https://git.example/x.git
# ok: sh-secret-in-address
git clone "https://ci:${TOKEN}@git.example/x.git"
