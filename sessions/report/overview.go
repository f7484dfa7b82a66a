package report

import "time"

// Overview sums an engine up (trtui inspect engine).
type Overview struct {
	Latency    Latency
	Throughput float64 `unit:"items_per_s"` // at the median latency; of inferences that overlap, items over the time of all
	Overlapped bool    `json:",omitempty"`  // inferences overlap, as trtexec's do
	Batch      int
	Split      []SplitEntry // time by precision
	Top        []TopLayer   // by time
	Memory     MemoryNumbers
	Counts
	Forks     []Fork `json:",omitempty"`                        // of Tactics
	Dropped   []Fork `json:",omitempty" output:"dropped_forks"` // of Tactics
	Badges    []Badge
	BuildTime time.Duration
	Inference *InferenceSplit `json:",omitempty"` // of Timings
	Unchanged string          `json:",omitempty"` // why the configuration's precision changes no layer
	Contents  *File           `json:",omitempty"` // of an engine file
	Profiles  []Profile       `json:",omitempty"` // of an engine file
	Profile   string          `json:",omitempty"` // the one of several that it runs in, by its name
	Origin    *Origin         `json:",omitempty"` // of an engine file
}

// Origin says of what an engine file was made, and by whom, as far as it tells.
type Origin struct {
	Program   string `json:",omitempty"`
	Commit    string `json:",omitempty"`
	Built     string `json:",omitempty"` // date and time, as in RFC 3339
	Model     string `json:",omitempty"`
	ModelHash string `json:",omitempty" output:"model_sha256"`
	Config    string `json:",omitempty"`
	Data      string `json:",omitempty"` // that ranges were found on
	Backend   string `json:",omitempty"`
	Device    string `json:",omitempty"`
	Source    bool   `output:"source_kept"` // the source network is in it
}

// SplitEntry is a precision's share.
type SplitEntry struct {
	Precision string
	Layers    int `output:"steps"` // steps of the plan
	Time      time.Duration
}

// TopLayer is one of the slowest layers.
type TopLayer struct {
	Name      string
	Time      time.Duration // median
	Share     float64       // of the sum of layers, 0 to 1
	P99       time.Duration
	CV        float64
	Precision string
	Tactic    string
}

// RandomCalibration is the text of the badge of engines whose ranges come from random input.
const RandomCalibration = "random calibration"

// WeightsNotFinite is the text of the badge of models whose weights hold NaN or infinities.
const WeightsNotFinite = "NaN weights"

// UsualShapes is the text of the badge of times at shapes that nobody gave.
const UsualShapes = "usual shapes"

// PlannedAgain is the text of the badge of an engine file whose plan is not the one in use.
const PlannedAgain = "planned again"

// Badge is a short warning that stays on the screen.
type Badge struct {
	Text string
	Why  string
}

// EnqueueBound is the share of the compute time over which handing work to the device is said to hold it up, as trtexec does.
const EnqueueBound = 0.8

// File tells of what an engine file consists, in bytes.
type File struct {
	Bytes       int `unit:"bytes" output:"file"`
	Source      int `unit:"bytes" output:"source_weights"` // of the source network, which the engine can be compared with and built anew from
	Plans       int `unit:"bytes" output:"plan_weights"`   // of the plan, that the source does not have so
	Code        int `unit:"bytes" output:"kernels"`        // compiled for the target
	Description int `unit:"bytes"`                         // networks, plan with every tactic that was considered, report
}
