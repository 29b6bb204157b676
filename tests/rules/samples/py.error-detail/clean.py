from flask import Flask, jsonify

app = Flask(__name__)


@app.route("/a")
def a():
    try:
        return work()
    except Exception as error:
        app.logger.error("failed: %r", error)
        return jsonify({"error": "failed"}), 500


@app.route("/b")
def b():
    try:
        return work()
    except HTTPError as error:
        return "failed", error.code


def tool():
    try:
        return work()
    except Exception as error:
        return str(error)


def read_bytes(stream, count):
    data = stream.read(count)
    if len(data) < count:
        raise EOFError(f"wanted {count} bytes, got {len(data)}")
    return data
