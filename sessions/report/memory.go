package report

import "slices"

// MemoryNumbers are the planner's figures in bytes.
type MemoryNumbers struct {
	Peak, Naive, LowerBound, IO, Workspace, Weights int `unit:"bytes"`
}

// Memory is the plan of the arena (trtui inspect memory).
type Memory struct {
	MemoryNumbers
	PeakStep int
	Steps    []string // names, in order
	Live     []int    `unit:"bytes"` // live at each step
	Slots    []Slot
	Planners []Planner // what other ways to share the arena out come to, this plan's first
}

// Planner is a way to share the arena out, over the same sizes and lives.
type Planner struct {
	Name    string
	Peak    int   `unit:"bytes"`
	Chosen  bool  `json:",omitempty"` // this plan's
	Offsets []int `unit:"bytes"`      // of Slots
}

// By returns the memory as another planner lays it out.
func (m *Memory) By(p Planner) *Memory {
	out := *m
	out.Peak, out.Slots = p.Peak, slices.Clone(m.Slots)
	for i, at := range p.Offsets {
		if i < len(out.Slots) {
			out.Slots[i].Offset = at
		}
	}
	return &out
}

// Slot is one tensor's place.
type Slot struct {
	Tensor string // "workspace" for scratch memory
	Desc   string // type, shape, format
	Offset int    `unit:"bytes"`
	Bytes  int
	First  int    `unit:"step"`       // step; -1: before the first
	Last   int    `unit:"step"`       // step; len(Steps): after the last
	IO     bool   `json:",omitempty"` // outside the arena
	Of     string `json:",omitempty"` // the tensor whose memory it shares or is a part of
	Kind   string // "own", "view", "slice", "in place", "workspace"
}

// memoryTables are what queries find of the report beside its JSON.
const memoryTables = `
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
`

// rows are what queries find.
func (m *Memory) rows(add AddRow) error {
	if err := add("memory", m.Peak, m.Naive, m.LowerBound, m.IO, m.Workspace, m.Weights, m.PeakStep); err != nil {
		return err
	}
	for i, s := range m.Slots {
		if err := add("slots", i, s.Tensor, s.Desc, s.Offset, s.Bytes, s.First, s.Last, s.IO, s.Kind, OrNull(s.Of)); err != nil {
			return err
		}
	}
	return nil
}
