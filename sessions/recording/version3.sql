-- The tables that were others in versions 1 to 3.

CREATE TABLE reports (           -- what the panes show, stored once however many snapshots share it
  id    INTEGER PRIMARY KEY,
  part  TEXT NOT NULL,             -- model, passes, overview, timings, memory, calibration, accuracy, tactics
  bytes INTEGER NOT NULL,          -- of the JSON
  json  BLOB NOT NULL              -- compressed by gzip
);

CREATE TABLE snapshots (         -- the states that a replay steps through
  seq         INTEGER PRIMARY KEY,
  time        TEXT NOT NULL,
  config      INTEGER NOT NULL REFERENCES configs(id),
  settled     INTEGER NOT NULL,    -- 1: every report fits the configuration
  log         INTEGER NOT NULL,    -- newest log line, 0: none
  state       TEXT NOT NULL,       -- JSON of what is not in a report
  model       INTEGER, passes INTEGER, overview INTEGER, timings INTEGER, -- rows of reports, NULL: not yet made
  memory      INTEGER, calibration INTEGER, accuracy INTEGER, tactics INTEGER
);
