# ruleid: sh-download-to-shell
curl -sSL https://get.example/install | sh
# ruleid: sh-download-to-shell
wget -qO- https://get.example/x | sudo bash -s -- -y
# ruleid: sh-download-to-shell
bash -c "$(curl -fsSL https://get.example/x)"
# ruleid: sh-download-to-shell
bash <(curl -s https://get.example/x)
# ok: sh-download-to-shell
curl -o install.sh https://get.example/install
# ok: sh-download-to-shell
curl https://api.example | jq .
# curl https://get.example | sh
