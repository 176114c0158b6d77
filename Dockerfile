# The image of the platform, for docker, podman or buildah: podman build -t registry.example.com/sekisho:0.1.0 .
# The same files at the same places as in the image of dev/images, which the local cluster runs (dev/images/dockerfile.test.ts compares them).
# The sources stay TypeScript here, whose types Node.js removes when it loads them: each process needs about 20 MB more than in our own image.
# The certificate authorities are Debian's: nothing of the machine that builds is in the image. For a reproducible build pin both base images
# by digest: --build-arg NODE_IMAGE=docker.io/library/node@sha256:… --build-arg DEBIAN_IMAGE=docker.io/library/debian@sha256:…
ARG NODE_IMAGE=docker.io/library/node:24.21.0-bookworm-slim
ARG DEBIAN_IMAGE=docker.io/library/debian:12.12-slim

FROM ${NODE_IMAGE} AS node

# Generates the database client, which is not in the repository and needs packages for development.
FROM node AS client
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY dev/generate/database-client.ts dev/generate/
COPY prisma prisma
RUN node dev/generate/database-client.ts

# Only what runs; type declarations and source maps are never loaded and are half of all files.
FROM node AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --no-audit --no-fund && \
    find node_modules -type f \( -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.map' \) -delete && \
    rm -rf node_modules/.bin node_modules/.package-lock.json

FROM ${DEBIAN_IMAGE}
RUN apt-get update && \
    apt-get install --yes --no-install-recommends ca-certificates git util-linux && \
    rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/dpkg.log && \
    groupadd --gid 65532 nonroot && useradd --uid 65532 --gid 65532 --home-dir /tmp --no-create-home --shell /usr/sbin/nologin nonroot
COPY --from=node /usr/local/bin/node /usr/local/bin/node
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY package.json ./
COPY deploy deploy
COPY prisma prisma
COPY src src
COPY --from=client /app/src/store/generated src/store/generated
ENV PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin \
    HOME=/tmp \
    NODE_ENV=production \
    NODE_OPTIONS=--max-semi-space-size=8 \
    MALLOC_ARENA_MAX=2 \
    MALLOC_MMAP_THRESHOLD_=32768 \
    MALLOC_TRIM_THRESHOLD_=131072 \
    NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt \
    SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt \
    GIT_SSL_CAINFO=/etc/ssl/certs/ca-certificates.crt \
    GIT_TERMINAL_PROMPT=0
LABEL org.opencontainers.image.title=sekisho org.opencontainers.image.licenses=Apache-2.0
USER 65532:65532
# docs/adr/0055: V8 must not allocate what one request needs in its old generation.
ENTRYPOINT ["node", "--no-allocation-site-pretenuring", "src/standalone.ts"]
