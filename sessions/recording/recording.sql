-- A recording, version 4 (PRAGMA user_version). Times of day are RFC 3339 text; columns that end in _ns are nanoseconds.
-- The tables of reports are where their types are, in sessions/report.

CREATE TABLE session (           -- one row: what was recorded
  program           TEXT NOT NULL, -- version of the program that wrote the file
  schema            INTEGER NOT NULL, -- version of the reports' JSON
  started           TEXT NOT NULL,
  ended             TEXT,          -- NULL: still being written, or cut short
  model             TEXT,
  model_path        TEXT,
  model_kind        TEXT,          -- onnx, engine
  model_bytes       INTEGER,
  model_sha256      TEXT,
  data              TEXT,          -- where inputs come from
  data_items        INTEGER,
  data_labelled     INTEGER,       -- 1: accuracy is that of labels
  data_random       INTEGER,       -- 1: made-up input, accuracy is agreement with FP32 only
  calibration_items INTEGER,
  backend           TEXT,
  device            TEXT,
  threads           INTEGER,
  fingerprint       TEXT,          -- of the device and the build: what measured times are valid for
  estimated         INTEGER        -- 1: times are a cost model's
);

CREATE TABLE configs (           -- every configuration that was tried
  id         INTEGER PRIMARY KEY,
  precision  TEXT NOT NULL,        -- fp32, fp16, int8
  calibrator TEXT NOT NULL,        -- counts for int8 only
  batch      INTEGER NOT NULL,
  config     TEXT NOT NULL,        -- all of it, as JSON
  first      TEXT NOT NULL,        -- when it was first seen
  settled    TEXT,                 -- when all its reports were there; NULL: never
  error      TEXT                  -- why it failed
);

CREATE TABLE runs (              -- every timed inference, of all measurements of a configuration
  config INTEGER NOT NULL REFERENCES configs(id),
  run    INTEGER NOT NULL,         -- from 0
  ns     INTEGER NOT NULL,         -- end to end
  steps  TEXT,                     -- JSON array of each step's ns; NULL: timed as a whole only
  PRIMARY KEY (config, run)
) WITHOUT ROWID;

CREATE VIEW samples AS           -- runs, one row a step: -1 is end to end
  SELECT config, run, -1 AS step, 'end to end' AS layer, ns FROM runs
  UNION ALL
  SELECT r.config, r.run, j.key, t.layer, j.value
  FROM runs r, json_each(r.steps) j LEFT JOIN timings t ON t.config = r.config AND t.step = j.key
  WHERE r.steps IS NOT NULL;

CREATE TABLE telemetry (         -- the device's state, about once a second where it tells; NULL: it does not tell that
  time             TEXT NOT NULL,
  config           INTEGER NOT NULL REFERENCES configs(id), -- what was worked on
  clock_mhz        INTEGER,
  memory_clock_mhz INTEGER,
  power_w          REAL,
  temperature_c    INTEGER,
  memory_used      INTEGER,        -- bytes, by all processes
  memory_total     INTEGER,
  utilization      INTEGER,        -- percent of the time in which a kernel ran
  throttle         TEXT            -- why clocks were held down, separated by commas
);

CREATE TABLE log (               -- messages of build and run
  id    INTEGER PRIMARY KEY,
  time  TEXT NOT NULL,
  level TEXT NOT NULL,             -- info, warning, error
  layer TEXT,
  text  TEXT NOT NULL
);

CREATE TABLE unfinished (        -- a row where the recording was closed before all was done that it was begun for
  why TEXT NOT NULL
);

CREATE TABLE reports (           -- what the panes show, stored once however many snapshots share it
  id    INTEGER PRIMARY KEY,
  part  TEXT NOT NULL,             -- which of them: model, timings
  bytes INTEGER NOT NULL,          -- of the JSON
  json  BLOB NOT NULL              -- compressed by gzip
);

CREATE TABLE snapshots (         -- the states that a replay steps through
  seq         INTEGER PRIMARY KEY,
  time        TEXT NOT NULL,
  config      INTEGER NOT NULL REFERENCES configs(id),
  settled     INTEGER NOT NULL,    -- 1: every report fits the configuration
  log         INTEGER NOT NULL,    -- newest log line, 0: none
  state       TEXT NOT NULL        -- JSON of what is not in a report
);

CREATE TABLE shown (             -- which reports a state is made of; what is not there was not yet made
  seq    INTEGER NOT NULL REFERENCES snapshots(seq),
  part   TEXT NOT NULL,
  report INTEGER NOT NULL REFERENCES reports(id),
  PRIMARY KEY (seq, part)
) WITHOUT ROWID;
