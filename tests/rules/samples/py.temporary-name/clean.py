import tempfile

with tempfile.NamedTemporaryFile() as file:
    file.write(b"x")
handle, name = tempfile.mkstemp()
open("/tmp/state.json")
tmp_path.mktemp("x")
