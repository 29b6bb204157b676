# ruleid: python-cors-any-with-credentials
app.add_middleware(CORSMiddleware, allow_origins=["*"], allow_credentials=True)
# ruleid: python-cors-any-with-credentials
CORS(app, origins="*", supports_credentials=True)
# ok: python-cors-any-with-credentials
app.add_middleware(CORSMiddleware, allow_origins=["https://app.example"], allow_credentials=True)
# ok: python-cors-any-with-credentials
CORS(app)
