"""See https://discord.com/api/webhooks/1234/abcd in the documentation."""
URL = "https://example.com/api/webhooks/"
print("see https://discord.com/developers")
