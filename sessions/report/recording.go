package report

import (
	"strings"
	"time"

	"github.com/trtui/trtui/sessions/config"
)

// Recording sums a recording up (trtui inspect recording).
type Recording struct {
	Schema      int `output:"-"` // of the stored reports
	Path        string
	Bytes       int64
	Version     int    // of the file's tables
	Program     string // that wrote it
	Started     time.Time
	Ended       time.Time `json:",omitzero"` // zero: still being written, or cut short
	Writing     bool      // it is being written at the moment; where the system does not tell, it is not
	Complete    bool      // the file was closed
	Stopped     bool      // it was, before all was done that it was begun for, as by Ctrl-C
	Unfinished  string    `json:",omitempty"` // why not all was done, where the program that wrote it said so
	Model       string    `output:"-"`        // the head has these
	ModelPath   string    `output:"-"`
	ModelKind   string    `output:"-"`
	ModelBytes  int64     `output:"-"`
	ModelSHA256 string    `output:"-"`
	Data        string    `output:"-"`
	Items       int       `output:"-"`
	CalItems    int       `output:"-"`
	Labelled    bool      `output:"-"`
	Random      bool      `output:"-"`
	Device      Device    `output:"-"`
	Configs     []RecordedConfig
	States      int
	Err         string `json:",omitempty" output:"error"` // why the file cannot be read; the rest is then empty
}

// Reason says why the file cannot be read, to those who know which file it is.
func (r *Recording) Reason() string {
	if _, why, ok := strings.Cut(r.Err, r.Path+": "); ok && r.Path != "" {
		return why
	}
	return r.Err
}

// RecordedConfig is one configuration that was tried, with what came of it. A number that is not known is nil.
type RecordedConfig struct {
	ID         int
	Name       string
	Config     config.Config
	First      time.Time
	Settled    bool
	Aside      bool           `json:",omitempty"` // it was measured beside others alone: no state is of it
	Err        string         `json:",omitempty" output:"error"`
	Runs       int            // timed inferences in the file
	Median     *time.Duration // latency
	P99        *time.Duration
	Timings    *Timings `output:"-" json:"-"`     // the newest, where that was read
	Top1       *float64 `unit:"share"`            // from 0 to 1
	Agreement  *float64 `unit:"share"`            // from 0 to 1
	SQNR       *float64 `unit:"db" exact:"exact"` // of the first output
	ArenaBytes *int
	Weights    *int `unit:"bytes"`
}

// Step is one state of a recording.
type Step struct {
	Seq     int
	Time    time.Time
	After   time.Duration // after the recording began; not negative, whatever the clock did
	Config  config.Config
	Settled bool // every report fits the configuration
}

// Measured returns what the recording says of the configuration's times.
func (c *RecordedConfig) Measured() Measured {
	if c.Timings != nil && c.Median != nil && c.Timings.EndToEnd.Median == *c.Median {
		return c.Timings.Measured(c.Config)
	}
	m := Measured{Config: c.Config}
	if c.Median != nil {
		m.Median = *c.Median
	}
	return m
}

// Know takes over of what was found beside others what the configuration lacks of accuracy and memory.
func (c *RecordedConfig) Know(p *Point) {
	if p == nil {
		return
	}
	if c.Top1 == nil && c.Agreement == nil && c.SQNR == nil {
		c.Top1, c.Agreement, c.SQNR = p.Top1, p.Agreement, p.SQNR
	}
	if c.Weights == nil && p.Weights > 0 {
		c.Weights = &p.Weights
	}
	if c.ArenaBytes == nil && p.Arena > 0 { // files of others tell of weights alone
		c.ArenaBytes = &p.Arena
	}
}

// SetConfigs adds what was tried.
func (r *Recording) SetConfigs(list []RecordedConfig) {
	done := false
	for _, c := range list {
		done = c.Aside && done || !c.Aside && (c.Settled || c.Err != "")
	}
	r.Configs, r.Stopped = list, r.Complete && (!done || r.Unfinished != "")
}
