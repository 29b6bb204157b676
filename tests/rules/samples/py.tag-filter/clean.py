import html
import re

html.escape(text)
re.sub(r"<b>", "", text)
text.replace("<script>x", "", 1)
