package report

import (
	"fmt"
	"time"
)

// Tactics has every candidate of every step (trtui inspect tactics).
type Tactics struct {
	Layers      []LayerTactics
	Forks       []Fork `json:",omitempty"`                        // of steps that run side by side, as they were measured when that was decided
	Dropped     []Fork `json:",omitempty" output:"dropped_forks"` // of steps that run in turn, each with its reason
	CacheHits   int
	CacheMisses int
	Cache       []CacheEntry
	CachePath   string
	CacheError  string              `json:",omitempty"` // why the cache could not be read or written
	Pinned      map[string]string   `entry:"layer,tactic"`
	Forbidden   map[string][]string `entry:"layer,tactics"`
}

// InMemory is the tactic of a step that only arranges memory and launches nothing.
const InMemory = "in_memory"

// LayerTactics is one step with its candidates.
type LayerTactics struct {
	Layer      string
	Op         string
	Chosen     string
	Candidates []Candidate
	Unfit      []TacticFamily `json:",omitempty"` // of a folded report: the families that are not among Candidates
}

// Copied returns the candidate that says why a step whose op only arranges memory copies its input instead; nil where it does not,
// or that is not known.
func (t *Tactics) Copied(step string) *Candidate {
	if t == nil {
		return nil
	}
	for i := range t.Layers {
		l := &t.Layers[i]
		if l.Layer != step || l.Chosen == InMemory {
			continue
		}
		for k := range l.Candidates {
			if c := &l.Candidates[k]; c.Tactic == InMemory {
				return c
			}
		}
	}
	return nil
}

// Candidate is one tactic.
type Candidate struct {
	Tactic string
	Family string `json:",omitempty"` // of tactics that differ in their shape alone; empty: it is the only one of its kind
	Format string // as in "linear to c16"
	Time   time.Duration
	Timed  bool
	Ratio  float64 // to the fastest
	Chosen bool
	Reason string // why it is not chosen, or cannot be; one that is kept out by a pin has its time all the same
	Code   string `json:",omitempty"` // of InMemory: which kind of reason that is, as of what passes rejected
	Unfit  bool   `json:",omitempty"` // it cannot compute the layer, so that it cannot be pinned
	Left   bool   `json:",omitempty"` // predictions left it out: it was neither timed nor priced, though nothing speaks against it
	Twin   string `json:",omitempty"` // of what was left out: the tactic of its tile that was not, if there is one
	Note   string `json:",omitempty"` // what its kernel says about itself, such as "spills 44 bytes"
}

// Remark is the reason and the note in one line.
func (c Candidate) Remark() string {
	if c.Reason != "" && c.Note != "" {
		return c.Reason + "; " + c.Note
	}
	return c.Reason + c.Note
}

// CacheEntry is an entry of the timing cache.
type CacheEntry struct {
	Target, Tactic, Layer string
	Time                  time.Duration
	Stale                 bool // of another device or build

	Measured  time.Time `json:",omitzero"`               // zero: not known
	Spread    float64   `json:",omitempty" unit:"share"` // by what share the second best of its occasions was longer; 0: not known
	Disturbed bool      `json:",omitempty"`              // the machine did something else while it was measured
}

// tacticsTables are what queries find of the report beside its JSON.
const tacticsTables = `
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
`

// rows are what queries find.
func (t *Tactics) rows(add AddRow) error {
	for _, l := range t.Layers {
		for _, c := range l.Candidates {
			var timed any
			if c.Timed {
				timed = int64(c.Time)
			}
			if err := add("tactics", l.Layer, l.Op, c.Tactic, OrNull(c.Format), timed, c.Chosen, OrNull(c.Remark())); err != nil {
				return err
			}
		}
	}
	return nil
}

// TacticFamily is tactics of a layer that cannot compute it and that differ in their tile alone.
type TacticFamily struct {
	Name    string // what their names begin with, as in "conv_f16_mma"
	Tactics int
	Reason  string // the one that most of them have; of two the one that comes first
	Same    int    // tactics with that reason

	Candidates []int `json:"-"` // of the layer
}

// String is the family in one line, as in "180 kernels, 174 of them: elements are f32, the kernel multiplies f16".
func (f TacticFamily) String() string {
	if f.Same == f.Tactics {
		return fmt.Sprintf("%d kernels: %s", f.Tactics, f.Reason)
	}
	return fmt.Sprintf("%d kernels, %d of them: %s", f.Tactics, f.Same, f.Reason)
}
