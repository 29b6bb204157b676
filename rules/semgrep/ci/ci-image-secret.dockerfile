FROM python:3.12-slim
# ruleid: ci-image-secret
ENV DB_PASSWORD=hunter2hunter2
# ruleid: ci-image-secret
ARG API_KEY=abcdef123456
# ok: ci-image-secret
ARG API_KEY
# ok: ci-image-secret
ENV TOKEN=$TOKEN
# ok: ci-image-secret
ENV MODE=production
