# The worker. Base it on this image and add your tools, or copy dist and node_modules from it.
FROM node:22-bookworm AS build
WORKDIR /holdfast
COPY package.json package-lock.json .npmrc ./
# Builds better-sqlite3 from source where no built one can be had: this stage has a compiler.
RUN npm ci
COPY . .
RUN npm run build && npm prune --omit=dev

FROM node:22-bookworm-slim
ENV NODE_ENV=production TZ=UTC HOLDFAST_CACHE=/var/cache/holdfast
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates \
  && rm -rf /var/lib/apt/lists/* \
  && mkdir -p /var/lib/holdfast /var/cache/holdfast \
  && chown node:node /var/lib/holdfast /var/cache/holdfast
WORKDIR /holdfast
COPY --from=build /holdfast/package.json ./
COPY --from=build /holdfast/node_modules ./node_modules
COPY --from=build /holdfast/dist ./dist
USER node
VOLUME /var/lib/holdfast
# SIGTERM lets running attempts finish (HOLDFAST_SHUTDOWN_GRACE_MS); node must be process 1.
CMD ["node", "dist/workers/main.js"]
