package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trtui/trtui/sessions/config"
)

// Diff says what B changes of A: two configurations, engines or states of recordings (trtui diff). Changes are B less A.
type Diff struct {
	A, B DiffSide

	EndToEnd TimeChange
	Between  time.Duration // of EndToEnd.Delta, what lies between layers: the difference of both sides' gaps
	Layers   time.Duration // and what is spent in layers, the remainder
	Medians  time.Duration // the sum of the groups' changes, apart from Layers where runs vary: medians do not add up
	Groups   []LayerChange // of layers that compute the same source layers; the largest change of time first
	Common   *CommonChange // nil where too few layers have the same kernels

	// Discoveries is the rate of false discoveries to which the groups' significance is held: of the groups that are said to
	// differ, the share that may not (Benjamini and Hochberg).
	Discoveries float64 `output:"false_discovery_rate"`

	// Told are the least and the greatest LayerChange.Told among the groups that make a hundredth of the time at least; nil where
	// there is no test of noise.
	Told *ToldRange `json:",omitempty" output:"told_ratios"`

	// Rounds are those by which layers are told from noise, of the side that has fewer; 0: none are known.
	Rounds int `json:",omitempty"`

	AddedSources   []string // source layers of B's model that A's does not have
	RemovedSources []string
	ChangedSources []SourceChange `json:",omitempty"` // those that both have by their name, and that are not the same
	Notes          []string       `json:",omitempty"` // what to know before comparing: other devices, models, estimates
}

// ToldRange is from what ratio on layers are told from noise, by which of them it is.
type ToldRange struct{ Least, Most float64 }

// ToldText writes a ratio from which on layers are told; beyond ten its digits behind the point say nothing.
func ToldText(ratio float64) string {
	if ratio >= 10 {
		return fmt.Sprintf("%.0fx", ratio)
	}
	return fmt.Sprintf("%.2fx", ratio)
}

// Resolution says from what ratio on single layers are told from noise; empty where there is no test of noise.
func (d *Diff) Resolution() string {
	if d.Told == nil {
		return ""
	}
	text := "measured on two occasions"
	switch {
	case d.InTurns() && d.Rounds > 0:
		text = fmt.Sprintf("measured in turns, %d rounds", d.Rounds)
	case d.InTurns():
		text = "measured in turns"
	case d.EndToEnd.LayersApart:
		text = "layers were measured on two occasions"
	}
	least, most := ToldText(d.Told.Least), ToldText(d.Told.Most)
	text += ": single layers are told from noise from " + least
	if most != least {
		text += " to " + most
	}
	text += " on"
	if d.Common.Counts() {
		text += fmt.Sprintf(", beyond the %.2fx of all", d.Common.Ratio)
	}
	return text
}

// Coarse reports whether the sides were measured on two occasions, and less could be told of single layers than in turns.
func (d *Diff) Coarse() bool {
	const fine = 1.05
	return d.Told != nil && !d.InTurns() && d.Told.Most > fine
}

// InTurns reports whether layers, too, were measured in the same rounds.
func (d *Diff) InTurns() bool { return d.EndToEnd.SideBySide && !d.EndToEnd.LayersApart }

// DiffSide is one of two things that are compared.
type DiffSide struct {
	Name   string // what it was called: a file, a state of a recording, a configuration
	Label  string // its configuration
	Model  string
	SHA256 string `output:"model_sha256"`
	Device Device
	Point
	Sum     time.Duration `output:"layers_sum"` // of its layers' medians
	Samples int
	Steps   int
	Memory  *MemoryNumbers // nil: not known
	File    int            `json:",omitempty" unit:"bytes" output:"engine_file"` // 0: it is not an engine file

	Random       bool `json:",omitempty" output:"random_data"` // what accuracy is of
	RandomRanges bool `json:",omitempty"`                      // ranges of activations come from random input
}

// TimeChange is the difference of two medians.
type TimeChange struct {
	A, B  time.Duration // where both were measured in the same rounds, what they take in these
	Delta time.Duration
	Speed // of A's time to B's

	// LayersApart is set where only the latencies are of the same rounds, as of configurations of one recording: each one's layers are
	// of its own measurement.
	LayersApart bool `json:",omitempty"`
}

// SourceChange is a layer that is in both models by its name, with what is not the same of it.
type SourceChange struct {
	Name string
	A, B SourceSide
}

// SourceSide is what one side's layer has that the other's has not; what both have alike is left out.
type SourceSide struct {
	Op      string `json:",omitempty"`
	Kernel  []int  `json:",omitempty"` // extents of a window
	Attrs   string `json:",omitempty"`
	Weights int    `json:",omitempty" unit:"bytes"` // of constants
}

// Same reports whether two sides have nothing that the other has not.
func (s *SourceSide) Same(o *SourceSide) bool {
	return s.Op == o.Op && slices.Equal(s.Kernel, o.Kernel) && s.Attrs == o.Attrs && s.Weights == o.Weights
}

// Text says what a side has, with bytes as a writer writes them.
func (s *SourceSide) Text(bytes func(int64) string) string {
	var parts []string
	if s.Op != "" {
		parts = append(parts, s.Op)
	}
	if len(s.Kernel) > 0 {
		parts = append(parts, strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Kernel), " ", "x"), "[]"))
	}
	if s.Attrs != "" {
		parts = append(parts, s.Attrs)
	}
	if s.Weights > 0 {
		parts = append(parts, "weights "+bytes(int64(s.Weights)))
	}
	return cmp.Or(strings.Join(parts, ", "), "none of that")
}

// Text says what is not the same.
func (c *SourceChange) Text(bytes func(int64) string) string {
	return c.A.Text(bytes) + " in A, " + c.B.Text(bytes) + " in B"
}

// CommonChange is how layers changed whose kernels, precision and place are the same: what all of them have in common is the
// machine's, not the layers'.
type CommonChange struct {
	Layers int
	Ratio  float64 // median of B's times to A's
	Spread float64 `json:",omitempty" unit:"share"` // by how much half of them are off that at least: what the occasion does to single layers
}

// Counts reports whether what layers have in common is a difference.
func (c *CommonChange) Counts() bool { return c != nil && max(c.Ratio, 1/c.Ratio) >= LeastRatio }

// Besides says behind what is told of a whole that it is so beyond what layers have in common, Within that so much of it is that.
func (c *CommonChange) Besides() string { return fmt.Sprintf(" beyond the machine's %.2fx", c.Ratio) }

func (c *CommonChange) Within() string {
	return fmt.Sprintf(", with the machine's %.2fx in it", c.Ratio)
}

// Text says what layers have in common, and how far they are off that; empty where that is nothing.
func (c *CommonChange) Text() string {
	switch {
	case c.Counts():
		text := fmt.Sprintf("%s with the same kernels take %.2fx as long (median): so much is the machine's, not the layers'", config.CountOf(c.Layers, "layer", "layers"), c.Ratio)
		if c.Spread > 0 {
			text += fmt.Sprintf("; half of them are off that by more than %.1f %%", 100*c.Spread)
		}
		return text
	case c == nil || c.Spread == 0:
		return ""
	}
	return fmt.Sprintf("%s with the same kernels differ by %.1f %% all the same (median): a layer counts only beyond that", config.CountOf(c.Layers, "layer", "layers"), 100*c.Spread)
}

// The kinds of [LayerChange].
const (
	KindSame    = "same"     // one layer of each, with the same tactic
	KindTactic  = "tactic"   // with another tactic
	KindTyped   = "re-typed" // in another precision
	KindSplit   = "split"    // one layer of A is several of B
	KindMerged  = "merged"   // several of A are one of B
	KindFused   = "re-fused" // several of A are several others of B
	KindAdded   = "added"
	KindRemoved = "removed"
)

// LayerChange is a group of layers: the least sets of both sides that compute the same source layers.
type LayerChange struct {
	Name  string   // of the layers of B, or of A where B has none
	Kind  string   // same, tactic, re-typed, split, merged, re-fused, added or removed
	From  []string // source layers
	Alike bool     `json:",omitempty"` // A and B are aligned by op, window and shape, in their order: few layers have names in common
	A, B  []LayerSide
	Delta time.Duration
	Share float64 // of the sum of A's layers
	Ratio float64 `json:",omitempty"` // of B's time to A's; 0 where either has none

	// P is the chance that such a difference is noise: the larger of those of Mann and Whitney's U test on medians of rounds, and
	// of Student's t test of the least by which its percentiles are apart beyond what all layers have in common, against how far
	// those of layers with the same kernels that take about as long are apart. Q is the rate of false discoveries among the groups with a Q
	// as low: of the same kernels, or of others, which are judged apart; nil where there are too few samples or nothing to compare.
	P, Q   *float64 `json:",omitempty"`
	Told   float64  `json:",omitempty" output:"told_ratio"` // the least ratio, either way and beyond what all have in common, that would be told from noise; 0: not known
	Slight bool     `json:",omitempty"`                     // Q is within the diff's rate, but the change is under what counts
	// Least is the change that counts where a side tells times in such steps that it is more than LeastDelta.
	Least       time.Duration `json:",omitempty"`
	Significant bool          // Q is within the diff's rate, and the change is 2 % and 0.25 µs at least; or nothing was measured and they differ
}

// Peers returns how many groups a group's verdict is held to the rate of false discoveries with: those with the same kernels, or the others.
func (d *Diff) Peers(c *LayerChange) (n int) {
	for i := range d.Groups {
		if g := &d.Groups[i]; g.Q != nil && (g.Kind == KindSame) == (c.Kind == KindSame) {
			n++
		}
	}
	return n
}

// Alike returns how many groups are aligned by what their layers are, and not by names.
func (d *Diff) Alike() (n int) {
	for i := range d.Groups {
		if d.Groups[i].Alike {
			n++
		}
	}
	return n
}

// Beyond returns how the latencies compare beyond what layers with the same kernels have in common on two occasions, as each layer is
// compared; ok is false where they were measured in turns, or layers have nothing in common that counts.
func (d *Diff) Beyond() (s Speed, ok bool) {
	e, c := d.EndToEnd, d.Common
	if e.SideBySide || !e.Known() || !c.Counts() || d.A.Estimated || d.B.Estimated {
		return Speed{}, false
	}
	return NewSpeed(e.Ratio*c.Ratio, e.Low*c.Ratio/(1+c.Spread), e.High*c.Ratio*(1+c.Spread), false), true
}

// Unsettled reports whether the latencies differ for sure, and no layer that both sides have does: rounds that tell the whole from
// noise may be too few for its parts.
func (d *Diff) Unsettled() bool {
	return d.EndToEnd.Significant && d.Rounds > 0 && !slices.ContainsFunc(d.Groups, func(c LayerChange) bool { return c.Significant })
}

// Apart reports whether the groups' changes do not add up to what layers make of the latency: where the difference is more than a
// tenth of that, and counts.
func (d *Diff) Apart() bool {
	rest := d.Layers - d.Medians
	return max(rest, -rest) > max(LeastDelta, max(d.Layers, -d.Layers)/10, max(d.EndToEnd.A, d.EndToEnd.B)/100)
}

// LeastDelta and LeastRatio are the changes of time that count: less is noise however sure it is.
const (
	LeastDelta = 250 * time.Nanosecond
	LeastRatio = 1.02
)

// Under says below what a slight change is, in a few words.
func (c *LayerChange) Under() string {
	if least := max(c.Least, LeastDelta); max(c.Delta, -c.Delta) < least {
		return fmt.Sprintf("under %g µs", float64(least)/1e3)
	}
	return "under 2 %"
}

// LayerSide is one step of a group.
type LayerSide struct {
	Layer     string
	Step      int // in order of execution, from 0
	Op        string
	Precision string
	Tactic    string
	Reformat  bool          `json:",omitempty"`
	Time      time.Duration `output:"median"`
	Bytes     int64         // read and written, weights included
	SQNR      *float64      `unit:"db" exact:"exact"` // of its output in the engine, to FP32's; nil: not known
}

// Names returns that of the layer of each side that takes longest, which is what the group is about; empty of a side that has none.
func (c *LayerChange) Names() (a, b string) {
	name := func(side []LayerSide) string {
		if len(side) == 0 {
			return ""
		}
		return slices.MaxFunc(side, func(x, y LayerSide) int { return cmp.Compare(x.Time, y.Time) }).Layer
	}
	return name(c.A), name(c.B)
}

// Bytes returns what the layers of each side read and write.
func (c *LayerChange) Bytes() (a, b int64) {
	for _, l := range c.A {
		a += l.Bytes
	}
	for _, l := range c.B {
		b += l.Bytes
	}
	return a, b
}

// SQNR returns the ratio of the last layer of each side for which it is known; nil: of none.
func (c *LayerChange) SQNR() (a, b *float64) {
	last := func(side []LayerSide) (v *float64) {
		for _, l := range side {
			if l.SQNR != nil {
				v = l.SQNR
			}
		}
		return v
	}
	return last(c.A), last(c.B)
}

// Verdict says in a few words what is known of the change of time.
func (c *LayerChange) Verdict() string {
	switch {
	case c.Kind == KindAdded || c.Kind == KindRemoved:
		return c.Kind
	case c.Significant && c.Delta < 0:
		return "faster"
	case c.Significant:
		return "slower"
	case c.Slight:
		return "too small to count"
	case c.P == nil && c.Delta != 0:
		return "too few samples to tell"
	}
	return "no significant difference"
}
