package report

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/trtui/trtui/sessions/config"
)

// Sensitivity is what each layer in 8 bits, by itself, takes from the first output, and what raising it would win and cost
// (trtui inspect sensitivity). Errors are of that output, before a Softmax, on items of the calibration data; times are sums of
// the tuner's times of all steps, with what fuses with a layer in either precision.
type Sensitivity struct {
	Config  config.Config `output:"studied_config"` // whose layers they are
	To      string        // the precision that layers are raised to: fp32, fp16
	Data    string        `output:"studied_data"` // on which errors were found
	Items   int           // of it
	Random  bool          `json:",omitempty"`
	Output  string        `json:",omitempty"`       // that errors are of, where there are others
	SQNR    float64       `unit:"db" exact:"exact"` // with all layers as they are
	Time    time.Duration // with all layers as they are
	Weights int           `unit:"bytes"`
	Arena   int           `unit:"bytes"`
	Layers  []Sensitive   // those that are known so far; the one whose raising wins most first
	Total   int           // how many there will be
	Raise   *RaiseList    `json:",omitempty"` // nil until all are known, and where raising wins nothing
	Elapsed time.Duration
}

// Sensitive is a layer in 8 bits, or a group of them that read one scale.
type Sensitive struct {
	Name   string   // of the layer; of a group all names
	Layers []string // by which their precision is set
	Group  bool     `json:",omitempty"`
	Alone  float64  `unit:"db" exact:"alone_exact"`  // SQNR of the output if nothing else is in 8 bits
	Raised float64  `unit:"db" exact:"raised_exact"` // SQNR of the output if it alone is raised
	Gain   float64  `unit:"db"`                      // of that over what all layers in 8 bits give; negative where errors cancelled
	// What raising it costs; negative where it saves.
	Time    time.Duration `output:"more_time"`
	Weights int           `output:"more_weights" unit:"bytes"`
	Arena   int           `output:"more_arena" unit:"bytes"`
}

// RaiseList is which layers to raise: those that take half of the error away, in the least time. One whose own gain is negative is among
// them only where it wins beside the others.
type RaiseList struct {
	Names     []string // of Layers
	Layers    []string // by which their precision is set
	Predicted Effect   // on the items of Sensitivity
	Measured  *Effect  `json:",omitempty"` // of engines, on the data that is evaluated; nil until it was
	Speed     *Speed   `json:",omitempty"` // of the raised engine beside the other, measured; nil until it was
	Items     int      `json:",omitempty"` // on which Measured is
}

// With returns the list with a row more.
func (l RaiseList) With(row Sensitive) RaiseList {
	l.Names, l.Layers = slices.Concat(l.Names, []string{row.Name}), slices.Concat(l.Layers, row.Layers)
	return l
}

// Effect is what comes of raising layers.
type Effect struct {
	SQNR             float64       `unit:"db" exact:"exact"`
	RaisedSQNR       float64       `unit:"db" exact:"raised_exact"`
	Time, RaisedTime time.Duration // of the tuner's times
}

// Gain returns what is won, in dB.
func (e Effect) Gain() float64 { return e.RaisedSQNR - e.SQNR }

// Raised raises the layers of the list in a configuration.
func (s *Sensitivity) Raised(c *config.Config) {
	if s.Raise == nil {
		return
	}
	for _, name := range s.Raise.Layers {
		c.SetLayerPrecision(name, config.Precision(s.To))
	}
}

// Rank orders the layers: that whose raising wins most is first.
func (s *Sensitivity) Rank() {
	slices.SortStableFunc(s.Layers, func(a, b Sensitive) int {
		return cmp.Or(cmp.Compare(b.Gain, a.Gain), cmp.Compare(a.Time, b.Time), cmp.Compare(a.Name, b.Name))
	})
}

// Noise returns the squared error by the square of what is wanted that an SQNR in dB stands for.
func Noise(db float64) float64 { return math.Pow(10, -db/10) }

// Ratio returns the SQNR in dB that a noise stands for.
func Ratio(noise float64) float64 {
	return max(-MaxDB, min(MaxDB, -10*math.Log10(max(noise, 1e-30))))
}
