import base64
import codecs
import marshal
import types
import zlib
from base64 import b64decode as d

exec(base64.b64decode("cHJpbnQoMSk="))  # HIT[critical]
blob = zlib.decompress(d(DATA))
code = blob.decode()
exec(compile(code, "<x>", "exec"))  # HIT
exec(marshal.loads(bytes.fromhex(DATA)))  # HIT
types.FunctionType(marshal.loads(DATA), globals())()  # HIT
eval(codecs.decode("cevag(1)", "rot13"))  # HIT
exec("".join(chr(n ^ 7) for n in NUMBERS))  # HIT


def unpack(text):
    return base64.b64decode(text)


exec(unpack("cHJpbnQoMSk="))  # HIT
