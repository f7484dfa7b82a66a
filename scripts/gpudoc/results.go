package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// benchCase is what is measured: a line of gpu_cases.txt.
type benchCase struct {
	Model     string
	Batch     int
	Precision string
}

// The columns of a case: who ran it.
const (
	ours    = "ours"
	eager   = "eager"
	graph   = "graph"
	compile = "compile"
)

// stages are those of gpu.sh, in its order.
var stages = []string{"device", "driver", "bringup", "pairs", "selftest", "baseline", "ours", "layers", "sweep", "tools"}

// stage is the file that one stage of scripts/gpu.sh leaves.
type stage struct {
	Schema                                        int
	Stage, Status, Reason, Commit, Device, Driver string
	When                                          string
	Rows                                          []row
}

// row holds what this page reads of a row; which fields are there depends on the stage.
type row struct {
	Schema    int // of the head, which is no result; 0 in all others
	Model     string
	Batch     int
	Precision string
	Mode      string // baseline: eager, graph or compile
	Layout    string
	MedianUS  float64 `json:"median_us"`
	Bench     struct {
		Latency struct {
			MedianMS float64 `json:"median_ms"`
		}
	}
	Forbidden int    // ours: tactics that were left out, as they were found wrong
	Lost      string // those of them that ended this measurement at first
	Despite   bool   // ours: others that were found wrong were not left out, as a layer had nothing else
	Error     string
	OK        *bool // selftest, bringup, comparisons
	comparison
	finding
	swept
	summary
}

// swept is what this page reads of a row of a sweep: a tactic on a layer.
type swept struct {
	Tactic      string
	PredictedUS float64 `json:"predicted_us"` // by the cost model
	MeasuredUS  float64 `json:"measured_us"`
}

// finding is what this page shows of a row of bringup, driver and tools.
type finding struct {
	Check, Name, Value string
	Tool               string  // tools: ncu or compute-sanitizer
	US                 float64 // tools: of a launch
	Count              int
	Bytes              float64
	EachUS             float64 `json:"each_us"`
	HostUS             float64 `json:"host_us"`
	GBs                float64 `json:"gb_s"`
	TFLOPs             float64 `json:"tflops"`
	JITms              float64 `json:"jit_ms"`
}

// comparison is a row of ours that is no measurement: outputs beside the CPU's.
type comparison struct {
	Compared string  // the model
	MaxAbs   float64 `json:"max_abs"`
	SQNRdB   float64 `json:"sqnr_db"`
}

// summary is the last row of bringup, and of pairs, selftest and sweep.
type summary struct {
	Summary   string // which of them
	Estimated bool   // by a model of a device
	Complete  bool
	Failed    int
	Ran       int // of pairs of a tactic and a layer
	Pairs     int
	Seen      int `json:"tactics_ran"`
	Tactics   int
	Reps      int
	Seconds   float64
}

// summary returns the stage's summary, or nil.
func (s stage) summary() *summary {
	for i := range s.Rows {
		if s.Rows[i].Summary != "" {
			return &s.Rows[i].summary
		}
	}
	return nil
}

// rows returns the number of rows that are results, and how many of them failed.
func (s stage) rows() (n, failed int) {
	for _, r := range s.Rows {
		if r.Summary != "" || r.Schema > 0 {
			continue
		}
		n++
		if r.failed() {
			failed++
		}
	}
	return n, failed
}

// failed reports whether the row says that something went wrong.
func (r row) failed() bool { return r.Error != "" || r.OK != nil && !*r.OK }

// devRun is one commit measured on one device on one day.
type devRun struct {
	Name   string // DATE-COMMIT
	Stages map[string]stage
}

// commit is the run's commit, cut to seven digits.
func (r devRun) commit() string {
	_, commit, _ := strings.Cut(r.Name, "-")
	id, dirty, modified := strings.Cut(commit, "-")
	if modified {
		dirty = "-" + dirty
	}
	return id[:min(7, len(id))] + dirty
}

// device is a GPU with its runs, newest first.
type device struct {
	Name string
	Runs []devRun
}

// figure is a median latency, or the failure to get one, and the run that it comes from.
type figure struct {
	us     float64 // 0: failed
	layout string
	run    int // index into device.Runs
}

func readCases(path string) ([]benchCase, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var cases []benchCase
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var c benchCase
		if n, err := fmt.Sscanf(line, "%s %d %s", &c.Model, &c.Batch, &c.Precision); n != 3 {
			return nil, fmt.Errorf("%s:%d: want model, batch and precision: %w", path, i+1, err)
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// readDevices reads dir/GPU/DATE-COMMIT/STAGE.json. GPU "none" is what a machine without one leaves, "cudasim" a trial.
func readDevices(dir string) ([]device, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "*", "*.json")) // sorted
	if err != nil {
		return nil, err
	}
	var devices []device
	for _, file := range files {
		runName := filepath.Base(filepath.Dir(file))
		gpu := filepath.Base(filepath.Dir(filepath.Dir(file)))
		if gpu == "none" || gpu == "cudasim" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var s stage
		if err := json.Unmarshal(text, &s); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if sum := s.summary(); s.Device == "cudasim" || sum != nil && sum.Estimated {
			return nil, fmt.Errorf("%s: its times are a simulator's: they do not belong among what was measured", file)
		}
		if s.Schema != 1 || !slices.Contains(stages, s.Stage) {
			return nil, fmt.Errorf("%s: schema %d, stage %q: not a result of this gpu.sh", file, s.Schema, s.Stage)
		}
		if len(devices) == 0 || !strings.EqualFold(devices[len(devices)-1].Name, s.Device) {
			devices = append(devices, device{Name: s.Device})
		}
		d := &devices[len(devices)-1]
		if len(d.Runs) == 0 || d.Runs[len(d.Runs)-1].Name != runName {
			d.Runs = append(d.Runs, devRun{Name: runName, Stages: map[string]stage{}})
		}
		d.Runs[len(d.Runs)-1].Stages[s.Stage] = s
	}
	for _, d := range devices {
		slices.SortStableFunc(d.Runs, func(a, b devRun) int {
			return cmp.Or(strings.Compare(b.newest(), a.newest()), strings.Compare(b.Name, a.Name))
		})
	}
	return devices, nil
}

// newest is when the last of the run's stages ended, in RFC 3339 and UTC.
func (r devRun) newest() string {
	var when string
	for _, name := range stages {
		when = max(when, r.Stages[name].When)
	}
	return when
}

// find returns the newest figure for a case in a column: the fastest of its layouts.
func (d device) find(c benchCase, column string) (figure, bool) {
	name := "baseline"
	if column == ours {
		name = "ours"
	}
	for i, run := range d.Runs {
		best, found := figure{run: i}, false
		for _, r := range run.Stages[name].Rows {
			if (benchCase{r.Model, r.Batch, r.Precision}) != c || column != ours && r.Mode != column {
				continue
			}
			found = true
			us := r.MedianUS
			if column == ours {
				us = 1e3 * r.Bench.Latency.MedianMS
			}
			if us > 0 && (best.us == 0 || us < best.us) {
				best.us, best.layout = us, r.Layout
			}
		}
		if found {
			return best, true
		}
	}
	return figure{}, false
}
