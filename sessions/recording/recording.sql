-- A recording, version 3 (PRAGMA user_version). Times of day are RFC 3339 text; columns that end in _ns are nanoseconds.

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

CREATE TABLE passes (            -- the passes over the graph, in order
  config     INTEGER NOT NULL REFERENCES configs(id),
  step       INTEGER NOT NULL,     -- from 1
  pass       TEXT NOT NULL,
  layers     INTEGER NOT NULL,     -- after it
  elapsed_ns INTEGER NOT NULL,
  PRIMARY KEY (config, step)
) WITHOUT ROWID;

CREATE TABLE sites (             -- what a pass rewrote, and what it looked at and left
  config        INTEGER NOT NULL REFERENCES configs(id),
  step          INTEGER NOT NULL,
  rule          TEXT NOT NULL,
  site          TEXT NOT NULL,     -- rule(layer,layer...), as --disable takes it
  fired         INTEGER NOT NULL,  -- 1: rewritten, 0: missed
  into_layer    TEXT,              -- the layer that came of it
  kernels_saved INTEGER,
  bytes_saved   INTEGER,
  reason        TEXT,              -- why it was missed
  detail        TEXT
);

CREATE TABLE ledger (            -- what became of every source layer
  config     INTEGER NOT NULL REFERENCES configs(id),
  layer      TEXT NOT NULL,
  op         TEXT NOT NULL,
  fate       TEXT NOT NULL,        -- kept, fused, folded, eliminated
  into_layer TEXT,                 -- the engine layer that computes it
  pass       TEXT,
  PRIMARY KEY (config, layer)
) WITHOUT ROWID;

CREATE TABLE tactics (           -- every candidate of every engine layer
  config  INTEGER NOT NULL REFERENCES configs(id),
  layer   TEXT NOT NULL,
  op      TEXT NOT NULL,
  tactic  TEXT NOT NULL,
  format  TEXT,
  time_ns INTEGER,                 -- NULL: not timed
  chosen  INTEGER NOT NULL,
  reason  TEXT                     -- why it is not chosen, or cannot be
);

CREATE TABLE timings (           -- statistics of the newest measurement
  config    INTEGER NOT NULL REFERENCES configs(id),
  step      INTEGER NOT NULL,      -- in order of execution, from 0; -1: end to end
  layer     TEXT NOT NULL,         -- 'end to end' for step -1
  op        TEXT,
  precision TEXT,
  tactic    TEXT,
  reformat  INTEGER,
  samples   INTEGER NOT NULL,
  mean_ns   INTEGER NOT NULL,
  median_ns INTEGER NOT NULL,
  min_ns    INTEGER NOT NULL,
  max_ns    INTEGER NOT NULL,
  p90_ns    INTEGER NOT NULL,
  p95_ns    INTEGER NOT NULL,
  p99_ns    INTEGER NOT NULL,
  cv        REAL NOT NULL,         -- standard deviation over mean
  share     REAL,                  -- of the sum of the layers' medians
  flops     INTEGER,
  bytes     INTEGER,               -- read and written, weights included
  PRIMARY KEY (config, step)
) WITHOUT ROWID;

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

CREATE TABLE memory (            -- the arena's plan, in bytes
  config      INTEGER PRIMARY KEY REFERENCES configs(id),
  peak        INTEGER NOT NULL,
  naive       INTEGER NOT NULL,    -- without reuse
  lower_bound INTEGER NOT NULL,    -- most bytes live at one step
  io          INTEGER NOT NULL,
  workspace   INTEGER NOT NULL,
  weights     INTEGER NOT NULL,
  peak_step   INTEGER NOT NULL
);

CREATE TABLE slots (             -- the place of every tensor
  config     INTEGER NOT NULL REFERENCES configs(id),
  slot       INTEGER NOT NULL,
  tensor     TEXT NOT NULL,
  form       TEXT,                 -- type, shape, format
  offset     INTEGER NOT NULL,
  bytes      INTEGER NOT NULL,
  first_step INTEGER NOT NULL,     -- -1: before the first
  last_step  INTEGER NOT NULL,
  io         INTEGER NOT NULL,     -- 1: outside the arena
  kind       TEXT NOT NULL,        -- own, view, slice, in place, workspace
  of_tensor  TEXT,                 -- whose memory it shares
  PRIMARY KEY (config, slot)
) WITHOUT ROWID;

CREATE TABLE ranges (            -- what every calibrator makes of every tensor
  config     INTEGER NOT NULL REFERENCES configs(id),
  tensor     TEXT NOT NULL,
  layer      TEXT,                 -- its producer; NULL for an input of the network
  calibrator TEXT NOT NULL,
  used       INTEGER NOT NULL,     -- 1: the engine quantises this tensor
  min        REAL, max REAL, mean REAL, std REAL,
  amax       REAL, scale REAL, zero INTEGER,
  clip       REAL,                 -- share of elements outside
  kl         REAL,                 -- divergence, in nats
  sqnr_db    REAL,
  PRIMARY KEY (config, tensor, calibrator)
) WITHOUT ROWID;

CREATE TABLE accuracy (          -- labels: shares from 0 to 1, NULL without labels
  config    INTEGER PRIMARY KEY REFERENCES configs(id),
  items     INTEGER NOT NULL,
  top1      REAL, top5 REAL, fp32_top1 REAL, fp32_top5 REAL,
  agreement REAL,                  -- share of items whose first class is FP32's
  tolerance_db REAL,
  first_bad TEXT                   -- the first layer under the tolerance
);

CREATE TABLE errors (            -- differences from FP32
  config   INTEGER NOT NULL REFERENCES configs(id),
  kind     TEXT NOT NULL,          -- output, accumulated (a layer in the engine), local (a layer alone)
  name     TEXT NOT NULL,          -- of the output or the layer
  precision TEXT, tensor TEXT,
  max_abs  REAL, mean_abs REAL, median_abs REAL, max_rel REAL, mean_rel REAL,
  l2       REAL, cosine REAL, sqnr_db REAL, psnr_db REAL,
  PRIMARY KEY (config, kind, name)
) WITHOUT ROWID;

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
