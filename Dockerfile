# email-worker with its own PostgreSQL and the page. What it needs is in docs/hosting/container.md.

FROM node:24-bookworm-slim AS build
WORKDIR /source
# Packages are installed anew only when they change.
COPY .npmrc package.json package-lock.json ./
COPY clients/typescript/package.json clients/typescript/
COPY page/package.json page/
RUN npm ci --omit=dev
COPY . .
# The image holds what the package holds, with exactly the versions of the lock file.
RUN npm pack --pack-destination /tmp \
  && mkdir /opt/email-worker \
  && tar -xzf /tmp/email-worker-*.tgz -C /opt/email-worker --strip-components=1
WORKDIR /opt/email-worker
RUN npm ci --omit=dev

FROM node:24-bookworm-slim
COPY --from=build /opt/email-worker /opt/email-worker
RUN ln -s /opt/email-worker/dist/bundle/main.js /usr/local/bin/email-worker \
  && install -d -o node -g node -m 700 /data
ENV HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
USER node
WORKDIR /data
# The only place, beside /tmp, that is written to.
VOLUME /data
EXPOSE 3000
# Whether the process answers. A database that is away is no reason to start the process again.
HEALTHCHECK --interval=30s --timeout=5s --start-period=90s --retries=3 \
  CMD ["node", "-e", "require(process.env.TLS_CERT_FILE ? 'https' : 'http').get({ host: '127.0.0.1', port: process.env.PORT, path: '/api/health', rejectUnauthorized: false }, (answer) => process.exit(answer.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
ENTRYPOINT ["node", "/usr/local/bin/email-worker"]
