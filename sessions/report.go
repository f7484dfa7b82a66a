package sessions

import (
	"time"

	"github.com/trtui/trtui/sessions/config"
)

// Schema is the version of the reports' stored JSON form, in recordings. It grows when a field changes its meaning or
// goes away; a reader takes a field that is missing as one that was not known. The commands print another form:
// [MarshalOutput].
const Schema = 1

// Snapshot is all that is known at one moment. It never changes; a newer one takes its place. A report that has not
// been made yet is nil, and one that no longer fits Config is named in Stale.
type Snapshot struct {
	Seq         int           // counts up
	Schema      int           `output:"-"` // of the stored form
	Config      config.Config `output:"-"` // the head has it
	Model       *ModelReport  `output:"network"`
	Passes      *PassesReport
	Overview    *OverviewReport
	Timings     *TimingsReport
	Memory      *MemoryReport
	Calibration *CalibrationReport
	Accuracy    *AccuracyReport
	Tactics     *TacticsReport
	Device      DeviceReport `output:"-"` // the head has it
	Stale       Parts        // reports that are of an older configuration
	Busy        *Progress    `json:",omitempty"`                // what is being done now
	Err         string       `json:",omitempty" output:"error"` // why the last run of the stages ended early
	Stopped     bool         `json:",omitempty"`                // by a person: Stale reports are not on their way
	Retiming    string       `json:",omitempty"`                // the layer whose tactics are being timed again
	Log         []LogLine    `json:",omitempty"`                // the newest lines
	Recording   string       `json:",omitempty"`                // the file being written
	Replay      string       `json:",omitempty"`                // the file being shown
	At          *Moment      `json:",omitempty"`                // which of its states

	// Telemetry is the device's state, also while nothing else changes; nil where it does not tell.
	Telemetry *TelemetryReport `json:",omitempty"`
}

// Supersedes says that a later snapshot makes this one obsolete: it names what is superseded, for queues of events.
func (*Snapshot) Supersedes() string { return "snapshot" }

// Settled reports whether every report fits the configuration.
func (s *Snapshot) Settled() bool { return s.Seq > 0 && s.Stale == 0 && s.Timings != nil }

// Refused reports whether the model can only be looked at.
func (s *Snapshot) Refused() bool { return s.Model != nil && s.Model.NotRunnable != "" }

// Part is one report of a snapshot.
type Part uint16

// Parts is a set of reports.
type Parts = Part

// The reports.
const (
	PartModel Part = 1 << iota
	PartPasses
	PartOverview
	PartTimings
	PartMemory
	PartCalibration
	PartAccuracy
	PartTactics
	PartScore // accuracy without that of layers
)

// Has reports whether p is in the set.
func (s Part) Has(p Part) bool { return s&p != 0 }

// output returns the names of the parts in the set.
func (s Part) output() any {
	names := []string{}
	for _, p := range recordedParts {
		if s.Has(p.part) {
			names = append(names, p.name)
		}
	}
	return names
}

// LogLine is a message of a build or a run.
type LogLine struct {
	Time  time.Time
	Level string // "info", "warning", "error"
	Text  string
	Layer string `json:",omitempty"` // what it is about
}

// DeviceReport describes the backend.
type DeviceReport struct {
	Backend     string // "cpu"
	Device      string // the processor's name
	Threads     int    `json:",omitempty"`
	Fingerprint string
	Estimated   bool `json:",omitempty"` // times are a model's, not measured
}

// ModelReport describes the source network as it was imported (trtui inspect model).
type ModelReport struct {
	Name     string `output:"-"`                   // of its file
	Graph    string `json:",omitempty" output:"-"` // the graph's own name, which the exporter gave
	Path     string `output:"-"`                   // Embedded for the model in the program
	Bytes    int64  `output:"-"`
	SHA256   string `output:"-"`
	Kind     string `output:"-"` // "onnx", "engine"
	Inputs   []TensorInfo
	Outputs  []TensorInfo
	Layers   []LayerInfo
	Params   int64          `output:"parameters"` // elements of constants
	FLOPs    int64          `output:"flops"`      // two for each multiply-add of convolutions and matrix products, at the session's shapes
	Ops      map[string]int `entry:"op,layers"`   // layers by op
	Data     string         `output:"-"`          // where inputs come from
	Random   bool           `output:"-"`          // the data is random: accuracy is agreement only
	Items    int            `output:"-"`          // of evaluation data
	CalItems int            `output:"-"`          // of calibration data
	Labelled bool           `output:"-"`
	// NotRunnable says in a line why the model can only be looked at: there are no reports but this one and of passes.
	NotRunnable string             `json:",omitempty"`
	Unsupported []UnsupportedLayer // its layers that cannot be imported
}

// TensorInfo describes a tensor.
type TensorInfo struct {
	Name  string
	Type  string // "?" where it is not known, and neither are the dims
	Dims  string // as in "[batch,3,224,224]"
	Shape []int  // at the session's shapes
	Range string `json:",omitempty"`
}

// LayerInfo describes a layer of either graph: of the source network, or of the engine's.
type LayerInfo struct {
	Name      string
	Op        string
	Attrs     string       `json:",omitempty"`
	Epilogue  string       `json:",omitempty"`
	From      []string     // source layers
	Inputs    []string     // names of the tensors that are not constants
	Outputs   []TensorInfo //
	Precision string       // "f32", "f16", "i8", "u8", or the type of its output where it does no arithmetic
	Weights   int          `json:",omitempty" unit:"bytes"` // of constants
	FLOPs     int64        `json:",omitempty" output:"flops"`
	Text      string       // its line in the network's text form

	Unsupported string `json:",omitempty"` // why the layer cannot be imported
	Behind      string `json:",omitempty"` // the layer to blame for that; empty: this one
}

// PassesReport is the way from the source network to the engine's (trtui inspect passes).
type PassesReport struct {
	// Precision is the one that Engine was lowered to; older recordings do not say.
	Precision config.Precision `json:",omitempty"`

	Steps  []PassStep
	Ledger []LedgerEntry // of every source layer, in order
	Source []LayerInfo
	Engine []LayerInfo // the lowered network
	// Kept, Fused, Folded and Eliminated count source layers; they sum to len(Ledger).
	Kept, Fused, Folded, Eliminated int
	KernelsSaved                    int   `output:"layers_saved"` // len(Source) - len(Engine)
	BytesSaved                      int64 `output:"saved_bytes"`
	Rules                           []RuleInfo
	Disabled                        []string // rules and sites that are switched off, as Config has them
	// Unlowered has the layers that were left in another precision than the configuration's, and Unchanged says why that is so
	// of all, where the precision changes no layer.
	Unlowered []UnloweredLayer `json:",omitempty"`
	Unchanged string           `json:",omitempty"`
	// Unmet are the layer precisions that were set and that the layers do not have.
	Unmet []UnmetPrecision `json:",omitempty"`
}

// UnmetPrecision is a layer whose precision was set but is another one.
type UnmetPrecision struct {
	Layer     string // of the engine
	Rule      string // as Config has it
	Precision string // that it has
	Reason    string
}

// UnloweredLayer is a layer that was left in another precision than the one asked for.
type UnloweredLayer struct {
	Layer     string
	From      []string // source layers
	Precision string
	Reason    string
}

// RuleInfo is a pass that can be switched off.
type RuleInfo struct {
	Name string
	Doc  string
}

// PassStep is one pass over the network.
type PassStep struct {
	Pass    string
	Fired   []FiredSite
	Missed  []MissedSite
	Layers  int // after it
	Elapsed time.Duration
	After   []LayerInfo // the network after it; empty where it changed nothing
	Text    string      // its text form after it; empty where it changed nothing
}

// FiredSite is one rewrite.
type FiredSite struct {
	Rule         string
	Site         string // identifies it in Config.Disable
	Layers       []string
	Into         string // the layer that came of it; empty if they were removed
	KernelsSaved int    `output:"layers_saved"` // layers that were not needed any more, less those that took their place
	BytesSaved   int64  `output:"saved_bytes"`
}

// MissedSite is a rewrite that was looked at and not done.
type MissedSite struct {
	Rule   string
	Site   string
	Layers []string
	Reason string // "second consumer", "dtype", "disabled", ...
	Detail string `json:",omitempty"`
}

// LedgerEntry tells what became of one source layer.
type LedgerEntry struct {
	Layer string
	Op    string
	Fate  string // "kept", "fused", "folded", "eliminated"
	Into  string // the engine layer that computes it, if any
	Pass  string // that decided it
}

// OverviewReport sums an engine up (trtui inspect engine).
type OverviewReport struct {
	Latency    Latency
	Throughput float64 `unit:"items_per_s"` // items over the time that all inferences took
	Batch      int
	Split      []SplitEntry // time by precision
	Top        []TopLayer   // by time
	Memory     MemoryNumbers
	Counts
	Badges    []Badge
	BuildTime time.Duration
	Inference *InferenceSplit `json:",omitempty"` // of Timings
	Unchanged string          `json:",omitempty"` // why the configuration's precision changes no layer
	Contents  *FileReport     `json:",omitempty"` // of an engine file
}

// Latency holds the statistics of repeated measurements.
type Latency struct {
	Count                                 int
	Mean, Median, Min, Max, P90, P95, P99 time.Duration
	CV                                    float64 // standard deviation over mean
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

// Badge is a short warning that stays on the screen.
type Badge struct {
	Text string
	Why  string
}

// TimingsReport has the times of every step of the plan (trtui bench --per-layer).
type TimingsReport struct {
	Samples    int
	EndToEnd   Latency
	SumMedian  time.Duration   // of the layers' medians
	Gap        time.Duration   // EndToEnd.Median - SumMedian; 0 where layers were not timed
	Layers     []LayerTiming   // in order of execution
	Live       bool            // still being measured, or stopped before that was over
	RecentE2E  []time.Duration `output:"recent_end_to_end"`
	Estimated  bool
	BatchItems int
	Inference  *InferenceSplit `json:",omitempty"` // nil where times are estimates, and in recordings of older programs

	// MedianLow and MedianHigh are where the median lies with 99 % confidence, if the machine stays as it was; 0 where there are
	// too few samples to tell, and in recordings of older programs.
	MedianLow, MedianHigh time.Duration `json:",omitempty"`
	Beside                *Beside       `json:",omitempty"` // nil where no other configuration was measured in the same rounds
}

// InferenceSplit is where the time of an inference goes whose data comes from and returns to the caller's own memory: medians
// of inferences apart from those of EndToEnd, which leave the data where it is.
type InferenceSplit struct {
	Samples     int
	Enqueue     time.Duration // of the host, to hand the work to the device
	InPlace     bool          `output:"enqueue_in_place"` // the host does the work itself: nothing is enqueued, and copies stay in its memory
	H2D         time.Duration `output:"h2d"`
	Compute     time.Duration
	D2H         time.Duration `output:"d2h"`
	InputBytes  int64         // copied in
	OutputBytes int64         // copied out
}

// LayerTiming is one step's times.
type LayerTiming struct {
	Name      string
	Op        string
	Precision string
	Tactic    string
	From      []string
	Reformat  bool `json:",omitempty"`
	Latency
	Share  float64         // of SumMedian
	GFLOPS float64         `json:",omitempty" output:"gflop_per_s"` // achieved, from the median
	Recent []time.Duration `json:",omitempty"`                      // the newest samples, oldest first
	Bins   *TimeBins       `json:",omitempty"`                      // of all samples; nil in recordings of older programs
	FLOPs  int64           `json:",omitempty" output:"flops"`
	Bytes  int64           // read and written, weights included
}

// TimeBins counts samples in equally wide bins from Low to High.
type TimeBins struct {
	Low, High time.Duration
	Counts    []int
	Above     int // samples longer than High
}

// MemoryNumbers are the planner's figures in bytes.
type MemoryNumbers struct {
	Peak, Naive, LowerBound, IO, Workspace, Weights int `unit:"bytes"`
}

// MemoryReport is the plan of the arena (trtui inspect memory).
type MemoryReport struct {
	MemoryNumbers
	PeakStep int
	Steps    []string // names, in order
	Live     []int    `unit:"bytes"` // live at each step
	Slots    []SlotInfo
}

// SlotInfo is one tensor's place.
type SlotInfo struct {
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

// TacticsReport has every candidate of every step (trtui inspect tactics).
type TacticsReport struct {
	Layers      []LayerTactics
	CacheHits   int
	CacheMisses int
	Cache       []CacheInfo
	CachePath   string
	CacheError  string              `json:",omitempty"` // why the cache could not be read or written
	Pinned      map[string]string   `entry:"layer,tactic"`
	Forbidden   map[string][]string `entry:"layer,tactics"`
}

// LayerTactics is one step with its candidates.
type LayerTactics struct {
	Layer      string
	Op         string
	Chosen     string
	Candidates []CandidateInfo
	Unfit      []TacticFamily `json:",omitempty"` // of a folded report: the families that are not among Candidates
}

// CandidateInfo is one tactic.
type CandidateInfo struct {
	Tactic string
	Family string `json:",omitempty"` // of tactics that differ in their shape alone; empty: it is the only one of its kind
	Format string // as in "linear to c16"
	Time   time.Duration
	Timed  bool
	Ratio  float64 // to the fastest
	Chosen bool
	Reason string // why it is not chosen, or cannot be; one that is kept out by a pin has its time all the same
	Unfit  bool   `json:",omitempty"` // it cannot compute the layer, so that it cannot be pinned
	Left   bool   `json:",omitempty"` // predictions left it out: it was neither timed nor priced, though nothing speaks against it
	Twin   string `json:",omitempty"` // of what was left out: the tactic of its tile that was not, if there is one
	Note   string `json:",omitempty"` // what its kernel says about itself, such as "spills 44 bytes"
}

// Remark is the reason and the note in one line.
func (c CandidateInfo) Remark() string {
	if c.Reason != "" && c.Note != "" {
		return c.Reason + "; " + c.Note
	}
	return c.Reason + c.Note
}

// CacheInfo is an entry of the timing cache.
type CacheInfo struct {
	Target, Tactic, Layer string
	Time                  time.Duration
	Stale                 bool // of another device or build

	Measured  time.Time `json:",omitzero"`               // zero: not known
	Spread    float64   `json:",omitempty" unit:"share"` // by what share the second best of its occasions was longer; 0: not known
	Disturbed bool      `json:",omitempty"`              // the machine did something else while it was measured
}
