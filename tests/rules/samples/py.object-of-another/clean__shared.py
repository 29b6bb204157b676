from flask import Flask, g, jsonify

app = Flask(__name__)


@app.get("/articles/<int:article_id>")
def read(article_id):
    article = articles.find(article_id)
    return jsonify(article)


@app.get("/articles/<int:article_id>/comments")
def comments(article_id):
    article = articles.find(article_id)
    return jsonify(article.comments)


@app.post("/articles/<int:article_id>")
def edit(article_id):
    article = articles.find(article_id)
    if article.author != g.user:
        raise PermissionError
    return jsonify(article)
