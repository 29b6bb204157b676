HOOK = "https://discord.com/api/webhooks/1234/abcd"  # HIT[medium]
fetch("https://pastebin.com/raw/abcd")  # HIT
bot = "https://api.telegram" + ".org/bot" + token  # HIT
pool = "stratum+tcp://pool.invalid:3333"  # HIT
