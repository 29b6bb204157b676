import re

re.sub(r"<script.*?>.*?</script>", "", text)  # HIT[medium]
text.replace("<script>", "")  # HIT
