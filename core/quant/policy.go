package quant

import (
	"fmt"
	"strings"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// Policy says which layers run in which precision. The zero value lets every layer that can run in 8 bits, with
// symmetric ranges and a scale for each output channel of the weights.
type Policy struct {
	Scheme    Scheme // of activations
	Rules     []Rule // for layers by name; of several that match, the last counts
	KeepFirst bool   // the layers with weights that no other such layer comes before stay in floating point
	KeepLast  bool   // and those that no other such layer comes after
	// KeepResiduals leaves in floating point what a product adds to its sums, and what layers in floating point read, everywhere and not
	// in streams alone that are normalised; where other layers need the same in 8 bits it is there twice.
	KeepResiduals bool
	KeepOps       []string    // ops, by name, whose layers stay in floating point
	PerTensor     bool        // one scale for all of a layer's weights
	Weights       WeightRange // how far the ranges of weights reach
	// Peaks are the largest magnitudes by tensor name, as calibration finds them: PlaceFP16 leaves in F32 what F16 cannot
	// hold. A tensor that is not in it counts as small.
	Peaks map[string]float32
	// Supports returns why the target does not compute a layer whose tensors are quantised; nil: it computes all. Place
	// leaves such layers in floating point, with the weights that they have.
	Supports func(*graph.Layer) error
	// Shapes are the values of the network's symbols for which it is lowered: tensors whose extents are other expressions
	// of them may be of one shape. nil: none are known.
	Shapes map[string]int
}

// Rule sets the precision of layers by name: an element of trtexec's --layerPrecisions.
type Rule struct {
	Pattern   string           // a layer's name, in which * stands for any text
	Precision numeric.DataType // F32, F16 or I8
	ByToken   bool             // of I8: where the layer is a product of rows, each has a range of its own, whatever the scheme says
}

// NewRule returns the rule of a pattern for a precision by its name: fp32, fp16, int8, or int8:token.
func NewRule(pattern, precision string) (Rule, error) {
	name, byToken := strings.CutSuffix(precision, ":token")
	for _, p := range precisions {
		if p.name == name && (!byToken || p.typ == numeric.I8) {
			return Rule{pattern, p.typ, byToken}, nil
		}
	}
	return Rule{}, fmt.Errorf("%q is not one of fp32, fp16, int8, int8:token", precision)
}

var precisions = []struct {
	name string
	typ  numeric.DataType
}{{"fp32", numeric.F32}, {"fp16", numeric.F16}, {"int8", numeric.I8}}

func (r Rule) String() string { return r.Pattern + ":" + r.PrecisionName() }

// PrecisionName returns the name of the rule's precision, as NewRule takes it.
func (r Rule) PrecisionName() string {
	if r.ByToken {
		return PrecisionName(r.Precision) + ":token"
	}
	return PrecisionName(r.Precision)
}

// PrecisionName returns trtexec's name of a precision.
func PrecisionName(t numeric.DataType) string {
	for _, p := range precisions {
		if p.typ == t {
			return p.name
		}
	}
	return t.String()
}

// ParseRules reads rules as trtexec's --layerPrecisions has them: "name:fp32,*conv*:int8". Later rules override earlier
// ones. A name may hold colons: the last one counts, but for that of int8:token.
func ParseRules(spec string) ([]Rule, error) {
	var rules []Rule
	for item := range strings.SplitSeq(spec, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		at := strings.LastIndexByte(strings.TrimSuffix(item, ":token"), ':')
		if at < 1 {
			return nil, fmt.Errorf("layer precision %q: want NAME:PRECISION, as in *conv*:fp32", item)
		}
		r, err := NewRule(item[:at], strings.TrimSpace(item[at+1:]))
		if err != nil {
			return nil, fmt.Errorf("layer precision %q: %w", item, err)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// Matches reports whether the rule is for the layer: by its own name or by that of a source layer in it.
func (r Rule) Matches(l *graph.Layer) bool { return r.MatchesName(l.Name, l.From) }

// MatchesName is Matches for a layer of that name with those source layers.
func (r Rule) MatchesName(name string, from []string) bool {
	if wildcard(r.Pattern, name) {
		return true
	}
	for _, name := range from {
		if wildcard(r.Pattern, name) {
			return true
		}
	}
	return false
}

// wildcard reports whether name is pattern, in which * stands for any text.
func wildcard(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == name
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(name) < len(first)+len(last) || !strings.HasPrefix(name, first) || !strings.HasSuffix(name, last) {
		return false
	}
	name = name[len(first) : len(name)-len(last)]
	for _, p := range parts[1 : len(parts)-1] {
		i := strings.Index(name, p)
		if i < 0 {
			return false
		}
		name = name[i+len(p):]
	}
	return true
}

// rule returns the last rule for the layer.
func (p Policy) rule(l *graph.Layer) (Rule, bool) {
	for i := len(p.Rules) - 1; i >= 0; i-- {
		if p.Rules[i].Matches(l) {
			return p.Rules[i], true
		}
	}
	return Rule{}, false
}

// check returns an error for what cannot be meant: an unknown type, a rule that is for no layer.
func (p Policy) check(n *graph.Network) error {
	if err := p.Scheme.Check(); err != nil {
		return err
	}
	for _, r := range p.Rules {
		found := false
		for _, l := range n.Layers {
			found = found || r.Matches(l)
		}
		if !found {
			return fmt.Errorf("layer precision %s: no layer of %s has such a name", r, n.Name)
		}
	}
	return nil
}

// Decision is the precision of one layer and why. A layer that is to be 8-bit may still end in floating point, where
// the target has no tactic for it; lowering says so.
type Decision struct {
	Layer     string
	Precision numeric.DataType // I8, F16 or F32
	Reason    string
	Formless  bool   // the op has no 8-bit form, whatever is asked
	OneRange  string // why a product has one range though one by token was asked for; empty where it has those, or nothing was asked
}
