package report

import (
	"slices"
	"time"

	"github.com/trtui/trtui/sessions/config"
)

// Columns has the layers of several configurations side by side, aligned by the source layers that they compute.
type Columns struct {
	Columns   []Column
	Shapes    string      `json:",omitempty"` // that all configurations have alike, and labels leave out
	Rows      []ColumnRow // in the order of the first column's layers, each before those that only later ones have
	Estimated bool
	Apart     bool `json:",omitempty"`            // the layers were not measured in the same rounds: what changed on the machine meanwhile is in them
	Live      bool `json:",omitempty" output:"-"` // a first impression: more is being measured
}

// Of reports whether one of the columns is of a configuration that builds the same engine.
func (c *Columns) Of(cfg config.Config, quantized bool) bool {
	return slices.ContainsFunc(c.Columns, func(k Column) bool { return k.Config.SameEngine(cfg, quantized) })
}

// OfAll reports whether each of several configurations has a column.
func (c *Columns) OfAll(list []config.Config, quantized bool) bool {
	return !slices.ContainsFunc(list, func(cfg config.Config) bool { return !c.Of(cfg, quantized) })
}

// Column is one configuration.
type Column struct {
	Label     string
	Config    config.Config
	Latency   Latency
	SumMedian time.Duration // of the layers' medians
	Speed     *Speed        // beside the first; nil for that
	Unchanged string        `json:",omitempty"`                // why the precision changes no layer
	Err       string        `json:",omitempty" output:"error"` // why there is no such engine; it has no cells
	Point     *Point        `json:",omitempty" output:"-"`     // with its memory and accuracy; nil where only times were measured

	// What is known of it: the times of these rounds, layer by layer, memory, and accuracy once it is judged; not in files.
	Timings  *Timings  `json:"-" output:"-"`
	Memory   *Memory   `json:"-" output:"-"`
	Accuracy *Accuracy `json:"-" output:"-"`
}

// ColumnRow is the least set of layers, of all columns, that compute the same source layers.
type ColumnRow struct {
	Name     string
	From     []string      // source layers
	Reformat bool          `json:",omitempty"` // changes of format between them
	Cells    []*ColumnCell // by column; nil where it has no such layer
	Fastest  string        `json:",omitempty"` // the label of the column in which it takes least time; empty where that may be noise
}

// ColumnCell is what a row comes to in one column.
type ColumnCell struct {
	Layers    []string
	Precision string // "mixed" where they differ
	Tactic    string // of the one that takes longest
	Median    time.Duration
	Share     float64 // of the layers' time of the column
	Ratio     float64 `json:",omitempty"` // the first column's time over it; 0 where that has none
}
