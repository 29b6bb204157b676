import subprocess

from flask import Flask

app = Flask(__name__)
app.run()
app.run(debug=False)
app.run(debug=options.debug)
logger.debug = True
