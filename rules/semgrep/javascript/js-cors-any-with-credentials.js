// ruleid: js-cors-any-with-credentials
app.use(cors({ origin: true, credentials: true }));
// ok: js-cors-any-with-credentials
app.use(cors({ origin: "https://app.example", credentials: true }));
// ok: js-cors-any-with-credentials
app.use(cors());
