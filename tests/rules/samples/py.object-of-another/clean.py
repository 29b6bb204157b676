from flask import Flask, abort, g, jsonify

app = Flask(__name__)


@app.get("/notes/<int:note_id>")
def read_note(note_id):
    note = notes.owned(note_id, g.user)
    return jsonify(note)


@app.delete("/notes/<int:note_id>")
def delete_note(note_id):
    note = notes.find(note_id)
    if note.owner_id != g.user.id:
        abort(404)
    return "", 204


@app.post("/notes/<int:note_id>/copy")
def copy_note(note_id):
    source = notes.find(note_id, user=g.user)
    return jsonify(source)


@app.get("/articles/<int:article_id>")
def public_article(article_id):
    article = articles.find(article_id)
    return jsonify(article)
