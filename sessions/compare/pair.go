package compare

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/sessions/report"
)

// pair compares two contestants.
type pair struct {
	first, second *Contestant
	how           Options
	outputs       []difference
	layers        map[string]*difference // by tensor
}

func newPair(first, second *Contestant, how Options) *pair {
	if !withinRounding(first, second) && how.Scaled {
		how.Check.Tolerance = how.Unexplained
	}
	p := &pair{first: first, second: second, how: how, layers: map[string]*difference{}}
	p.outputs = make([]difference, len(first.results))
	for i, t := range first.results {
		p.outputs[i].judge(how.measures(t.Name))
	}
	return p
}

// add compares what the two made of a batch, which FP32, if it is there, explains.
func (p *pair) add(batch Batch, fp32 *Reference) error {
	if !withinRounding(p.first, p.second) {
		fp32 = nil
	}
	for i, t := range p.first.results {
		d := &p.outputs[i]
		a, b, err := p.taken(t.Name)
		if err != nil {
			return err
		}
		var ref numeric.Value
		var explained *report.RoundingFactors
		if shown, factors := p.shown(); a.Type.IsFloat() && b.Type.IsFloat() {
			switch {
			case fp32 != nil:
				ref, explained = fp32.outputs[t.Name], fp32.Factors
			case factors != nil:
				ref, explained = shown[t.Name], factors
			}
		}
		d.between(p.how, [2]numeric.DataType{a.Type, b.Type}, a.Type.IsFloat(), p.how.own(t.Name), explained)
		d.quantised(p.how, p.outputStep(t, a))
		if err := d.add(batch.first, batch.Axis(t.Dims), a, b, ref); err != nil {
			return fmt.Errorf("output %s of %s and %s: %w", t.Name, p.first.said(), p.second.said(), err)
		}
	}
	if p.first.Outside != nil { // nobody knows its layers
		return nil
	}
	for name, a := range p.first.tensors { // each into a sum of its own: the order does not matter
		b, ok := p.second.tensors[name]
		if ok && p.second.Outside != nil {
			b, ok = b.like(a)
		}
		if !ok {
			continue
		}
		var ref numeric.Value
		var explained *report.RoundingFactors
		if fp32 != nil {
			if v, ok := fp32.layer(batch, a.tensor); ok {
				ref, explained = v, fp32.Factors
			}
		}
		d := p.layers[name]
		if d == nil {
			d = &difference{}
			p.layers[name] = d
		}
		d.between(p.how, [2]numeric.DataType{a.stored, b.stored}, a.value.Type.IsFloat(), nil, explained)
		d.quantised(p.how, stepOf(a.tensor))
		if err := d.add(batch.first, batch.Axis(a.tensor.Dims), a.value, b.value, ref); err != nil {
			return fmt.Errorf("tensor %s of %s and %s: %w", name, p.first.said(), p.second.said(), err)
		}
	}
	return nil
}

// outputStep returns the step of an output of which v is compared: integers are as they are stored.
func (p *pair) outputStep(t *graph.Tensor, v numeric.Value) float64 {
	step := stepOf(t)
	switch {
	case step == 0 || v.Type.IsInteger() != t.Type.IsInteger(): // not its elements, but their places
		return 0
	case v.Type.IsInteger():
		return 1
	}
	return step
}

// taken returns what is compared of an output of both.
func (p *pair) taken(output string) (a, b numeric.Value, err error) {
	if a, err = p.how.taken(output, p.first.outputs[output]); err == nil {
		b, err = p.how.taken(output, p.second.outputs[output])
	}
	if err != nil {
		err = fmt.Errorf("output %s: %w", output, err)
	}
	return a, b, err
}

// report sums the comparison up.
func (p *pair) report() report.Pair {
	r := report.Pair{First: p.first.name, Second: p.second.name, Passed: true}
	for i, t := range p.first.results {
		d := p.outputs[i].report(t.Name)
		r.Outputs = append(r.Outputs, d)
		r.Passed = r.Passed && d.Passed
	}
	if !p.how.PerLayer {
		return r
	}
	p.first.layers(func(l *graph.Layer, t *graph.Tensor) {
		sum := p.layers[t.Name]
		if sum == nil {
			r.Unmatched++
			return
		}
		d := sum.report(t.Name)
		d.Layer, d.Op = l.Name, l.Op.Name
		r.Layers = append(r.Layers, d)
		if !d.Passed && r.FirstBad == "" {
			r.FirstBad = d.Layer
		}
	})
	return r
}

// like returns what something outside has for a tensor of a run here, whose range tells what integers stand for; ok is false where
// it is another tensor of that name.
func (o observed) like(a observed) (observed, bool) {
	quantised := a.tensor.Range.IsSet() && o.stored.IsInteger()
	if quantised && o.stored != a.stored || !slices.Equal(o.value.Dims, a.value.Dims) {
		return o, false
	}
	o.value = numeric.ToReal(o.value, a.tensor.Range)
	return o, true
}

// withinRounding reports whether FP32 explains by how much two runs of what was lowered may differ: what comes from outside was not.
func withinRounding(a, b *Contestant) bool { return a.Outside == nil && b.Outside == nil }

// shown returns what a variant of one of the two gave, and by how much they may differ therefore; nil where there is none.
func (p *pair) shown() (map[string]numeric.Value, *report.RoundingFactors) {
	for _, c := range []*Contestant{p.first, p.second} {
		if c.Variant != nil && p.how.Scaled {
			return c.variant, VariantFactors(c)
		}
	}
	return nil, nil
}

// VariantFactors returns by how much a run may differ from one outside that has a variant; nil where it has none. As in FP16, each
// rounds by itself.
func VariantFactors(c *Contestant) *report.RoundingFactors {
	if c.Variant == nil {
		return nil
	}
	return &report.RoundingFactors{RMS: 1.5, Peak: 2, From: c.Variant.Name}
}

// NeedsRounding reports whether any of the pairs that are compared is explained by what rounding does.
func NeedsRounding(runs []*Contestant) bool {
	for _, other := range runs[1:] {
		if withinRounding(runs[0], other) {
			return true
		}
	}
	return false
}
