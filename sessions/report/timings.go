package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/trtui/trtui/sessions/config"
)

// Timings has the times of every step of the plan (trtui bench --per-layer).
type Timings struct {
	Samples    int
	EndToEnd   Latency
	SumMedian  time.Duration   // of the layers' medians
	Gap        time.Duration   // what runs take from end to end beyond their layers, see [GapOf]; 0 where layers were not timed
	GapRuns    int             `json:",omitempty"` // of which it is the median; 0: no single runs are known, it is EndToEnd.Median - SumMedian
	Layers     []LayerTiming   // in order of execution, timed one behind the other
	Live       bool            // still being measured, or stopped before that was over
	RecentE2E  []time.Duration `output:"recent_end_to_end"`
	Estimated  bool
	BatchItems int
	Summed     bool            `json:",omitempty"` // of layers only means and medians are known, from another program's files
	Tick       time.Duration   `json:",omitempty"` // the steps in which another program's files tell times, where they are coarse
	Inference  *InferenceSplit `json:",omitempty"` // nil where times are estimates, and in recordings of older programs

	Runs []time.Duration `json:"-" output:"-"` // from end to end, all that were kept; only of a measurement that is over, and not in files

	// Walltime is what passed on the host for the runs, without others between them that measured layers or copies; 0 where times
	// are estimates, where other configurations ran in between, and in recordings of older programs.
	Walltime time.Duration `json:",omitempty"`

	// MedianLow and MedianHigh are where the median lies with 99 % confidence, if the machine stays as it was; 0 where there are
	// too few samples to tell, and in recordings of older programs.
	MedianLow, MedianHigh time.Duration `json:",omitempty"`
	Rounds                []Round       `json:",omitempty"` // nil where it was measured in one go, and in recordings of older programs
	Roofline              *Roofline     `json:",omitempty"` // nil where it was not asked for, and in recordings of older programs
	Forks                 []Fork        `json:",omitempty"` // of steps that run side by side; nil where none do, none was timed, and in recordings of older programs
	Beside                *Beside       `json:",omitempty"` // nil where no other configuration was measured in the same rounds

	// Reference is what the one took beside which this was measured, where its own measurement was broken off and these rounds were
	// the rest of it; not in files: recordings have the samples.
	Reference *Timings `json:"-" output:"-"`
}

// Round is what the latencies of one round of a measurement come to.
type Round struct{ Median, P99 time.Duration }

// LayerTiming is one step's times.
type LayerTiming struct {
	Name      string
	Op        string
	Precision string
	Tactic    string
	From      []string
	Reformat  bool   `json:",omitempty"`
	Once      bool   `json:",omitempty"` // it runs once at a shape, and its times are those of nothing
	Origin    string `json:",omitempty"` // why there is a reformat, as in "c16 for conv1"; empty in recordings of older programs
	Latency
	P10    time.Duration   `json:",omitempty"` // percentiles beside those of Latency, by which measurements are compared; 0 in recordings of older programs
	P25    time.Duration   `json:",omitempty"`
	P75    time.Duration   `json:",omitempty"`
	Share  float64         // of SumMedian
	GFLOPS float64         `json:",omitempty" output:"gflop_per_s"` // achieved, from the median
	Recent []time.Duration `json:",omitempty"`                      // the newest samples, oldest first
	Bins   *TimeBins       `json:",omitempty"`                      // of all samples; nil in recordings of older programs
	Rounds []time.Duration `json:",omitempty"`                      // medians of all samples in rounds, oldest first; none while they are measured, and in recordings of older programs
	FLOPs  int64           `json:",omitempty" output:"flops"`
	Bytes  int64           // read and written, weights included
	Fork   int             `json:",omitempty"` // in which it runs side by side with others, from 1 on; 0: in none
	Lane   int             `json:",omitempty"` // in that, from 1 on
	Inside []InsideTiming  `json:",omitempty"` // of the steps of its bodies
	Roof   *Roof           `json:",omitempty"` // nil where no peaks are known, and in recordings of older programs
}

// How says by which tactic a step is computed, and that it is so only once, if it is.
func (l *LayerTiming) How() string {
	if l.Once && l.Tactic != InMemory {
		return l.Tactic + ", once a shape"
	}
	return l.Tactic
}

// InsideTiming is what a step of a body takes in an inference.
type InsideTiming struct {
	Name      string
	Op        string
	Precision string
	Tactic    string
	Runs      float64       // how often it runs, on average
	Mean      time.Duration // of all of these together
}

// TimeBins counts samples in equally wide bins from Low to High.
type TimeBins struct {
	Low, High time.Duration
	Counts    []int
	Above     int // samples longer than High
}

// timingsTables are what queries find of the report beside its JSON.
const timingsTables = `
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
`

// rows are one for the whole and one for each step.
func (t *Timings) rows(add AddRow) error {
	row := func(step int, layer string, op, precision, tactic, reformat any, l Latency, share, flops, bytes any) error {
		return add("timings", step, layer, op, precision, tactic, reformat, l.Count,
			int64(l.Mean), int64(l.Median), int64(l.Min), int64(l.Max), int64(l.P90), int64(l.P95), int64(l.P99), l.CV,
			share, flops, bytes)
	}
	if err := row(-1, "end to end", nil, nil, nil, nil, t.EndToEnd, nil, nil, nil); err != nil {
		return err
	}
	for i, l := range t.Layers {
		if err := row(i, l.Name, l.Op, l.Precision, l.Tactic, l.Reformat, l.Latency, l.Share, l.FLOPs, l.Bytes); err != nil {
			return err
		}
	}
	return nil
}

// Measured returns what a report says of its configuration.
func (r *Timings) Measured(cfg config.Config) Measured {
	return Measured{cfg, r.EndToEnd.Median, r.MedianLow, r.MedianHigh, r.Beside, r.Estimated}
}

// ByBound sums layers up by the ceiling that they stand under, those that take most of the time first.
func (t *Timings) ByBound() []BoundTime {
	var list []BoundTime
	for i := range t.Layers {
		l := &t.Layers[i]
		if l.Roof == nil {
			continue
		}
		at := slices.IndexFunc(list, func(b BoundTime) bool { return b.Bound == l.Roof.Bound })
		if at < 0 {
			at, list = len(list), append(list, BoundTime{Bound: l.Roof.Bound})
		}
		b := &list[at]
		b.Layers, b.Median, b.Floor, b.Share = b.Layers+1, b.Median+l.Median, b.Floor+l.Roof.Floor, b.Share+l.Share
	}
	for i := range list {
		if list[i].Median > 0 {
			list[i].OfPeak = float64(list[i].Floor) / float64(list[i].Median)
		}
	}
	slices.SortStableFunc(list, func(a, b BoundTime) int { return cmp.Compare(b.Median, a.Median) })
	return list
}

// BoundTime is what the layers under one ceiling take together.
type BoundTime struct {
	Bound  string
	Layers int
	Median time.Duration
	Floor  time.Duration
	Share  float64 // of the layers' time
	OfPeak float64 `output:"of_peak_share"`
}
