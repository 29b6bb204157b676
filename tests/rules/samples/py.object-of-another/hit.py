from flask import Flask, abort, g, jsonify

app = Flask(__name__)


@app.get("/notes/<int:note_id>")
def read_note(note_id):
    note = notes.owned(note_id, g.user)
    if note is None:
        abort(404)
    return jsonify(note)


@app.delete("/notes/<int:note_id>")
def delete_note(note_id):
    note = notes.find(note_id)
    if note.owner_id != g.user.id:
        abort(404)
    notes.remove(note_id)
    return "", 204


@app.post("/notes/<int:note_id>/copy")
def copy_note(note_id):
    source = notes.find(note_id)  # HIT[high]
    return jsonify(notes.add(g.user, source.title))
