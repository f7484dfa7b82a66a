package sessions

import "time"

// Schema is the version of the reports' JSON form. It grows when a field changes its meaning or goes away.
const Schema = 1

// Snapshot is all that is known at one moment. It never changes; a newer one takes its place. A report that has not
// been made yet is nil, and one that no longer fits Config is named in Stale.
type Snapshot struct {
	Seq         int // counts up
	Schema      int
	Config      Config
	Model       *ModelReport
	Passes      *PassesReport
	Overview    *OverviewReport
	Timings     *TimingsReport
	Memory      *MemoryReport
	Calibration *CalibrationReport
	Accuracy    *AccuracyReport
	Tactics     *TacticsReport
	Device      DeviceReport
	Stale       Parts     // reports that are of an older configuration
	Busy        *Progress `json:",omitempty"` // what is being done now
	Err         string    `json:",omitempty"` // why the last run of the stages ended early
	Log         []LogLine `json:",omitempty"` // the newest lines
	Recording   string    `json:",omitempty"` // the file being written
	Replay      string    `json:",omitempty"` // the file being shown

	// Telemetry is the device's state, also while nothing else changes; nil where it does not tell.
	Telemetry *TelemetryReport `json:",omitempty"`
}

// Supersedes says that a later snapshot makes this one obsolete: it names what is superseded, for queues of events.
func (*Snapshot) Supersedes() string { return "snapshot" }

// Settled reports whether every report fits the configuration.
func (s *Snapshot) Settled() bool { return s.Seq > 0 && s.Stale == 0 && s.Timings != nil }

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
)

// Has reports whether p is in the set.
func (s Part) Has(p Part) bool { return s&p != 0 }

// Progress says how far a job is.
type Progress struct {
	Phase string // "collecting activations"
	Item  string // the layer, tactic or batch at hand
	Done  int
	Total int // 0: unknown
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
	Name     string
	Path     string // "embedded" for the model in the program
	Bytes    int64
	SHA256   string
	Kind     string // "onnx", "engine"
	Inputs   []TensorInfo
	Outputs  []TensorInfo
	Layers   []LayerInfo
	Params   int64          // elements of constants
	FLOPs    int64          // two for each multiply-add of convolutions and matrix products, at the session's shapes
	Ops      map[string]int // layers by op
	Data     string         // where inputs come from
	Random   bool           // the data is random: accuracy is agreement only
	Items    int            // of evaluation data
	CalItems int            // of calibration data
	Labelled bool
}

// TensorInfo describes a tensor.
type TensorInfo struct {
	Name  string
	Type  string
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
	Weights   int          `json:",omitempty"` // bytes of constants
	FLOPs     int64        `json:",omitempty"`
	Text      string       // its line in the network's text form
}

// PassesReport is the way from the source network to the engine's (trtui inspect passes).
type PassesReport struct {
	Steps  []PassStep
	Ledger []LedgerEntry // of every source layer, in order
	Source []LayerInfo
	Engine []LayerInfo // the lowered network
	// Kept, Fused, Folded and Eliminated count source layers; they sum to len(Ledger).
	Kept, Fused, Folded, Eliminated int
	KernelsSaved                    int
	BytesSaved                      int64
	Rules                           []RuleInfo
	Disabled                        []string // rules and sites that are switched off, as Config has them
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
	KernelsSaved int
	BytesSaved   int64
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
	Throughput float64 // items a second
	Batch      int
	Split      []SplitEntry // time by precision
	Top        []TopLayer   // by time
	Memory     MemoryNumbers
	Layers     int // launches
	Source     int // source layers
	Badges     []Badge
	BuildTime  time.Duration
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
	Layers    int
	Time      time.Duration
}

// TopLayer is one of the slowest layers.
type TopLayer struct {
	Name  string
	Time  time.Duration
	Share float64 // of the sum of layers, 0 to 1
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
	SumMedian  time.Duration // of the layers' medians
	Gap        time.Duration // EndToEnd.Median - SumMedian
	Layers     []LayerTiming // in order of execution
	Live       bool          // still being measured
	RecentE2E  []time.Duration
	Estimated  bool
	BatchItems int
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
	GFLOPS float64         `json:",omitempty"` // achieved, from the median
	Recent []time.Duration `json:",omitempty"` // the newest samples, oldest first
	FLOPs  int64           `json:",omitempty"`
	Bytes  int64           // read and written, weights included
}

// MemoryNumbers are the planner's figures in bytes.
type MemoryNumbers struct {
	Peak, Naive, LowerBound, IO, Workspace, Weights int
}

// MemoryReport is the plan of the arena (trtui inspect memory).
type MemoryReport struct {
	MemoryNumbers
	PeakStep int
	Steps    []string // names, in order
	Live     []int    // bytes live at each step
	Slots    []SlotInfo
}

// SlotInfo is one tensor's place.
type SlotInfo struct {
	Tensor string // "workspace" for scratch memory
	Desc   string // type, shape, format
	Offset int
	Bytes  int
	First  int    // step; -1: before the first
	Last   int    // step; len(Steps): after the last
	IO     bool   `json:",omitempty"` // outside the arena
	Of     string `json:",omitempty"` // the tensor whose memory it shares or is a part of
	Kind   string // "own", "view", "slice", "in place", "workspace"
}

// CalibrationReport compares calibrators tensor by tensor (trtui calibrate --compare).
type CalibrationReport struct {
	Calibrators []string // "minmax", "entropy", "percentile:99.99", "mse"
	Active      string
	Tensors     []TensorCalibration
	Batches     int
	Random      bool
	Elapsed     time.Duration
}

// TensorCalibration is one tensor under every calibrator.
type TensorCalibration struct {
	Tensor    string
	Layer     string // its producer, "" for a network input
	Min, Max  float32
	Mean, Std float64
	Zeros     float64 // share
	Count     int64
	Histogram HistogramBins
	By        []CalibratorResult // in the order of Calibrators
	Used      bool               // the engine quantises it
}

// HistogramBins are equally wide bins from Low to High, few enough to draw.
type HistogramBins struct {
	Low, High float32
	Counts    []int64
}

// CalibratorResult is what one calibrator makes of one tensor.
type CalibratorResult struct {
	Amax  float32
	Scale float32
	Zero  int32
	Clip  float64 // share of elements outside
	KL    float64 // divergence of the quantised distribution, in nats
	SQNR  float64 // expected, in dB
}

// AccuracyReport compares the engine with FP32 (trtui eval --per-layer).
type AccuracyReport struct {
	Precision  string
	Calibrator string
	Layers     []LayerError
	Outputs    []OutputError
	Labels     LabelAccuracy
	Tolerance  float64 // dB of SQNR under which a layer counts as bad
	FirstBad   string  // the first layer under it by accumulated error
	Items      int     // compared for outputs and labels
	TapItems   int     // compared for layers
	Random     bool
}

// Errors are measures of the difference between two tensors.
type Errors struct {
	MaxAbs, MeanAbs, MedianAbs float64
	MaxRel, MeanRel            float64
	L2                         float64
	Cosine                     float64
	SQNR                       float64 // dB; 200 stands for equality
	PSNR                       float64
}

// LayerError is one engine layer's error at its output.
type LayerError struct {
	Name        string
	Op          string
	Precision   string
	Tensor      string
	From        []string
	Accumulated Errors // the engine as it is against FP32
	Local       Errors // the layer alone, given FP32's inputs
}

// OutputError is one network output's error.
type OutputError struct {
	Name string
	Errors
}

// LabelAccuracy is the quality of classification; shares from 0 to 1, -1 where there are no labels.
type LabelAccuracy struct {
	Top1, Top5         float64
	FP32Top1, FP32Top5 float64
	Agreement          float64 // share of items whose first class is FP32's
}

// TacticsReport has every candidate of every step (trtui inspect tactics).
type TacticsReport struct {
	Layers      []LayerTactics
	CacheHits   int
	CacheMisses int
	Cache       []CacheInfo
	CachePath   string
	CacheError  string `json:",omitempty"` // why the cache could not be written
	Pinned      map[string]string
	Forbidden   map[string][]string
}

// LayerTactics is one step with its candidates.
type LayerTactics struct {
	Layer      string
	Op         string
	Chosen     string
	Candidates []CandidateInfo
}

// CandidateInfo is one tactic.
type CandidateInfo struct {
	Tactic string
	Format string // as in "linear to c16"
	Time   time.Duration
	Timed  bool
	Ratio  float64 // to the fastest
	Chosen bool
	Reason string // why it is not chosen, or cannot be
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
}
