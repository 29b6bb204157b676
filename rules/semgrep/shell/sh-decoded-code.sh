# ruleid: sh-decoded-code
echo aWQK | base64 -d | sh
# ruleid: sh-decoded-code
xxd -r -p x | bash
# ok: sh-decoded-code
echo aWQK | base64 -d > image.png
# ok: sh-decoded-code
tr a-z A-Z < names | sort
