-- Schema 1. Every record is a JSON document (records.go says its form); the other columns are its keys, and what is
-- searched by. Tables are clustered by run: loading a run reads one stretch of each. A later release that needs other
-- columns raises user_version, converts what it finds, and keeps this release's testdata/v1.db loading.

CREATE TABLE runs (
    id      TEXT    PRIMARY KEY,
    started INTEGER NOT NULL,            -- nanoseconds since 1970, for the order
    ended   INTEGER NOT NULL,            -- 0 or 1
    taken   INTEGER NOT NULL DEFAULT 0,  -- inbox rows of the run up to this seq are taken
    doc     TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_by_end ON runs (ended, started);
-- IF NOT EXISTS: databases of before there was this one are given it when they are opened (see indexByName).
CREATE INDEX IF NOT EXISTS runs_by_name ON runs (json_extract(doc, '$.name'), ended, started);

CREATE TABLE agents (
    run TEXT NOT NULL,
    id  TEXT NOT NULL UNIQUE,
    doc TEXT NOT NULL,
    PRIMARY KEY (run, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE launches (
    run   TEXT    NOT NULL,
    agent TEXT    NOT NULL,
    n     INTEGER NOT NULL,
    live  INTEGER NOT NULL,              -- 1 until the launch has ended
    doc   TEXT    NOT NULL,
    PRIMARY KEY (run, agent, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX launches_live ON launches (run) WHERE live = 1;

CREATE TABLE questions (
    run   TEXT NOT NULL,
    id    TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL,
    doc   TEXT NOT NULL,
    PRIMARY KEY (run, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX questions_undelivered ON questions (run) WHERE state IN ('open', 'answered');

CREATE TABLE deliveries (
    run  TEXT NOT NULL,
    uuid TEXT NOT NULL,
    doc  TEXT NOT NULL,
    PRIMARY KEY (run, uuid)
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
    run TEXT    NOT NULL,
    seq INTEGER NOT NULL,                -- from 1, without gaps in a run
    doc TEXT    NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE inbox (
    seq      INTEGER PRIMARY KEY AUTOINCREMENT, -- never used twice, so that runs.taken stays true after a prune
    run      TEXT NOT NULL,
    kind     TEXT NOT NULL,
    question TEXT NOT NULL,              -- empty for notes that are no answer
    doc      TEXT NOT NULL
) STRICT;
CREATE INDEX inbox_by_run ON inbox (run, seq);
CREATE INDEX inbox_by_question ON inbox (question, seq) WHERE question <> '';
CREATE UNIQUE INDEX inbox_first_answer ON inbox (question) WHERE kind = 'answer';
