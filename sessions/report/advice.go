package report

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Advice is what rules find in a snapshot (trtui lint). It follows from the snapshot alone, so it is made where it is shown, of
// a recording too.
type Advice struct {
	Findings []Finding // the gravest first
	Rules    []RuleResult
}

// RuleResult is what became of one rule.
type RuleResult struct {
	Rule    string
	Doc     string // what the rule looks for
	Found   int
	Missing []string `json:",omitempty"` // reports and the like without which it cannot look; then nothing is known
}

// Asked returns how many rules could look.
func (a *Advice) Asked() (n int) {
	for i := range a.Rules {
		if a.Rules[i].Missing == nil {
			n++
		}
	}
	return n
}

// Severity is how grave a finding is.
type Severity string

// The severities, the gravest first.
const (
	Problem    Severity = "problem" // results are wrong, or most of what the device can do is lost
	Warning    Severity = "warning" // time, memory or accuracy is lost that one can have back
	Suggestion Severity = "hint"    // worth a look
)

// Severities are all there are, the gravest first.
func Severities() []Severity { return []Severity{Problem, Warning, Suggestion} }

// Finding is what a rule found at one place.
type Finding struct {
	Rule     string
	Severity Severity
	Layer    string        `json:",omitempty"` // of the engine or of the source network; empty: it is about the whole
	Tensor   string        `json:",omitempty"`
	Text     string        // what is so, with its figures
	Evidence []Evidence    // the figures by name
	Remedy   Remedy        // what changes it
	Raise    []string      `json:",omitempty"` // the layers whose precision does, where that is the remedy and it is not that of Layer
	Time     time.Duration `json:",omitempty"` // of an inference that it is about; 0: not known
	Bytes    int64         `json:",omitempty"` // that it is about; 0: it is about none
}

// Evidence is a figure on which a finding rests.
type Evidence struct {
	Name  string
	Value float64
	Unit  string // "share" (0 to 1), "ratio", "ms", "bytes", "db"; empty: a count or a number without unit
}

// Remedy is a kind of change that helps. Commands say by which flag it is made, panes by which key.
type Remedy string

// The remedies.
const (
	RemedyPreprocessing Remedy = "preprocessing"   // scale and shift the input as in training
	RemedyLabelOffset   Remedy = "label-offset"    // add to labels
	RemedyData          Remedy = "data"            // calibrate and evaluate on data that is like what the model will see
	RemedyCalibrator    Remedy = "calibrator"      // another one
	RemedyWeightScales  Remedy = "weight-scales"   // one for each channel
	RemedyEqualization  Remedy = "equalization"    // scale the channels of a tensor so that one range suits them all
	RemedyPrecision     Remedy = "layer-precision" // another precision for the layer
	RemedyRequantize    Remedy = "requantize"      // drop the quantisation that the model brings, and quantise it here
	RemedyTactics       Remedy = "tactics"         // look at the layer's candidates, pin one, or time them again
	RemedyRules         Remedy = "rules"           // switch rules of fusion on again
	RemedyModel         Remedy = "model"           // change the model: nothing that is chosen here does it
	RemedyBatch         Remedy = "batch"           // more items in an inference
	RemedyMeasure       Remedy = "measure"         // on a machine at rest, longer
	RemedyMemory        Remedy = "memory"          // a smaller batch or shape, or lower precision of a tensor
	RemedyThreads       Remedy = "threads"         // another number of them
)

// Remedies are all there are.
func Remedies() []Remedy {
	return []Remedy{RemedyPreprocessing, RemedyLabelOffset, RemedyData, RemedyCalibrator, RemedyWeightScales, RemedyEqualization, RemedyPrecision, RemedyRequantize, RemedyTactics, RemedyRules, RemedyModel, RemedyBatch, RemedyMeasure, RemedyMemory, RemedyThreads}
}

// Unasked says which rules could not look, and for want of what.
func (a *Advice) Unasked() (list []string) {
	var order []string
	rules := map[string][]string{}
	for _, r := range a.Rules {
		if r.Missing == nil {
			continue
		}
		key := strings.Join(r.Missing, ", ")
		if rules[key] == nil {
			order = append(order, key)
		}
		rules[key] = append(rules[key], r.Rule)
	}
	for _, key := range order {
		list = append(list, fmt.Sprintf("not looked at without %s: %s", key, strings.Join(rules[key], ", ")))
	}
	return list
}

// GoesOn reports whether the finding behind finding i is of the same rule, and what helps is the same: it is said behind the last.
func (a *Advice) GoesOn(i int) bool {
	if i+1 >= len(a.Findings) {
		return false
	}
	f, next := &a.Findings[i], &a.Findings[i+1]
	return f.Rule == next.Rule && f.Severity == next.Severity && f.Remedy == next.Remedy && slices.Equal(f.Raise, next.Raise)
}
