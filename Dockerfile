# Filewise with embedded SQLite and the clients that it needs; servers are named by
# --target. Build: docker build -t filewise . Run, with results kept in ./data, which
# has to be there (else Docker makes it, for root alone):
#   docker run --rm --user "$(id -u):$(id -g)" -v "$PWD/data:/data" filewise run
# Containers with networks of their own do not see each other's measuring lock: add
# --network host where something else may measure on the machine.
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=container
RUN CGO_ENABLED=1 go build -trimpath -ldflags "-s -w -X main.version=$VERSION" -o /filewise ./cmd/filewise

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates fio && rm -rf /var/lib/apt/lists/* \
	&& useradd --create-home --uid 1000 filewise && install -d -o filewise /data
COPY --from=build /filewise /usr/local/bin/filewise
USER filewise
WORKDIR /data
ENV FILEWISE_STATE=/data/.state FILEWISE_STORE=/data/filewise.db
# Results outlive the container, and what is measured is no copy-on-write layer.
VOLUME /data
ENTRYPOINT ["filewise"]
CMD ["run"]
