-- +goose Up
CREATE TABLE runs (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    started  TEXT NOT NULL,          -- UTC, RFC 3339 with nine decimals
    ended    TEXT,                   -- NULL while it runs
    state    TEXT NOT NULL CHECK (state IN ('running', 'done', 'interrupted', 'failed')),
    version  TEXT NOT NULL,          -- of the Filewise that made it
    scenario TEXT NOT NULL,
    engine   TEXT NOT NULL,
    layouts  TEXT NOT NULL,          -- JSON array of names
    owner    TEXT NOT NULL,          -- JSON: the process that runs it
    plan     TEXT NOT NULL,          -- JSON, never altered
    machine  TEXT NOT NULL,          -- JSON array of facts
    server   TEXT NOT NULL,          -- JSON array of facts
    warnings TEXT NOT NULL,          -- JSON array, of the preflight
    ending   TEXT NOT NULL DEFAULT '',
    why      TEXT NOT NULL DEFAULT '',
    verdict  TEXT NOT NULL DEFAULT '' -- one line, stored at the end
);

CREATE TABLE trials (
    id       INTEGER PRIMARY KEY AUTOINCREMENT, -- in the order measured
    run      INTEGER NOT NULL REFERENCES runs (id),
    pilot    INTEGER NOT NULL CHECK (pilot IN (0, 1)),
    block    INTEGER NOT NULL CHECK (block >= 0),
    position INTEGER NOT NULL CHECK (position >= 0),
    layout   TEXT NOT NULL,
    attempt  INTEGER NOT NULL CHECK (attempt >= 1),
    instance TEXT NOT NULL,
    state    TEXT NOT NULL CHECK (state IN ('done', 'failed')),
    reason   TEXT NOT NULL,
    started  TEXT NOT NULL,
    elapsed  INTEGER NOT NULL,       -- ns
    stages   TEXT NOT NULL,          -- JSON, like the next three
    files    TEXT NOT NULL,
    final    TEXT NOT NULL,
    warnings TEXT NOT NULL
);

-- A layout is measured once in a block, and again only as another attempt.
CREATE UNIQUE INDEX trials_blocks ON trials (run, block, layout, attempt) WHERE pilot = 0;
CREATE UNIQUE INDEX trials_pilots ON trials (run, block, position, layout, attempt) WHERE pilot = 1;
CREATE INDEX trials_run ON trials (run);

-- Numbers without a type are REAL, or TEXT for what is no finite number.
CREATE TABLE measures (
    trial        INTEGER NOT NULL REFERENCES trials (id),
    ordinal      INTEGER NOT NULL,   -- in the trial, from 0
    family       TEXT NOT NULL,
    unit         TEXT NOT NULL,
    window_from  INTEGER NOT NULL,   -- ns, like all times here
    window_to    INTEGER NOT NULL,
    work         NOT NULL,
    bytes        NOT NULL,
    tail         INTEGER NOT NULL,
    sync         INTEGER NOT NULL,
    slice_length INTEGER NOT NULL,
    slices       BLOB,               -- varints, see slices.go
    hist         BLOB,               -- HDR histogram, V2 compressed
    deltas       TEXT NOT NULL,      -- JSON
    PRIMARY KEY (trial, ordinal)
) WITHOUT ROWID;

PRAGMA user_version = 1;

-- +goose Down
DROP TABLE measures;
DROP TABLE trials;
DROP TABLE runs;
PRAGMA user_version = 0;
