from flask import Flask

app = Flask(__name__)
app.config["DEBUG"] = True  # HIT[medium]
app.debug = True  # HIT
if __name__ == "__main__":
    app.run(debug=True)  # HIT[medium]
    app.run(host="0.0.0.0", debug=True)  # HIT[high]
