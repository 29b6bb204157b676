# ruleid: sh-delete-root
rm -rf /
# ruleid: sh-delete-root
rm -rf "$HOME"
# ruleid: sh-delete-root
sudo rm -rf --no-preserve-root /
# ruleid: sh-delete-root
rm -rf $BUILD/*
# ok: sh-delete-root
rm -rf build dist
# ok: sh-delete-root
rm -rf "$tmp"
# ok: sh-delete-root
rm -rf /var/lib/apt/lists/*
# ok: sh-delete-root
rm -rf "${dir:?}"/x
