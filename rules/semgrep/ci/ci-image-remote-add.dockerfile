FROM python:3.12-slim
# ruleid: ci-image-remote-add
ADD https://files.example/tool.tar.gz /opt/
# ok: ci-image-remote-add
ADD --checksum=sha256:24454f830cdb571e2c4ad15481119c43b3cafd48dd869a9b2945d1036d1dc68d https://files.example/t /opt/
# ok: ci-image-remote-add
ADD tool.tar.gz /opt/
