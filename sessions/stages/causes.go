package stages

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/report"
)

// causes finds what the own errors of an engine's layers are made of. Beside FP32, and each layer as the engine has it on FP32's
// tensors as it stores them, there is the float network whose layers are given the same: what that is from FP32 the inputs lost when
// they were stored, and what the engine is from that, its weights and its output lose.
type causes struct {
	plan   *run.Plan
	scaled build.Equalized
	steps  []stepCause
	makers map[string]int           // the step that gives a tensor of the engine
	float  map[string]numeric.Value // of the batch: the float network that is given what the engine stores
	cures  map[string]*report.Cure  // by tensor of the source network
}

// stepCause sums up squares over a step's first output.
type stepCause struct {
	signal, inputs, rest, output float64             // of FP32, and of what is lost: by inputs, by all else, by storing what the float network gives
	corrected                    bool                // its bias takes back what layers before it lose, of which here there is nothing
	others                       quant.ChannelErrors // the rest, by channels
	storage                      quant.StorageErrors
	stored                       quant.ChannelErrors // FP32's output as it is stored, in the channels as they are stored
	reads                        map[int]*quant.ChannelErrors
	tensor                       *graph.Tensor
	source                       string // the tensor of the source network
}

// newCauses returns the causes of a plan's steps, of which shifts has the biases that were corrected, by source layer.
func newCauses(p *run.Plan, scaled build.Equalized, shifts map[string][]float64) *causes {
	c := &causes{plan: p, scaled: scaled, steps: make([]stepCause, len(p.Steps)), makers: map[string]int{}}
	for i, s := range p.Steps {
		for _, out := range s.Out {
			if !s.Reformat {
				c.makers[p.Slots[out].Tensor.Name] = i
			}
		}
		c.steps[i].reads = map[int]*quant.ChannelErrors{}
		c.steps[i].corrected = slices.ContainsFunc(s.From, func(from string) bool { return shifts[from] != nil })
	}
	return c
}

// channelAxis returns the axis of a tensor's channels.
func channelAxis(t *graph.Tensor) int {
	for _, u := range t.Users {
		if u.Op.IsProduct() && u.Inputs[0] == t {
			return quant.ChannelAxis(u)
		}
	}
	if len(t.Dims) > 3 || t.Producer != nil && t.Producer.Op.Class == graph.ClassConvolution {
		return 1
	}
	return max(0, len(t.Dims)-1)
}

// sizedByRun reports whether no shape of the network says what size a tensor has: it may be the data that do.
func sizedByRun(t *graph.Tensor) bool {
	return slices.ContainsFunc(t.Dims, func(d symbolic.Dim) bool {
		_, ok := d.IsConst()
		return !ok
	})
}

// storedAs returns real numbers as a tensor of that type and range has them.
func storedAs(v numeric.Value, t numeric.DataType, r numeric.Range) numeric.Value {
	s := numeric.NewValue(t, v.Dims...)
	numeric.FromReal(s, v.Floats(), r)
	return s
}

// sourceName returns the name of what the source network has for a tensor of the engine; "" if it has none.
func (c *causes) sourceName(all map[string]numeric.Value, t *graph.Tensor) string {
	if divided := dividedAs(t, c.scaled); divided != "" {
		return c.scaled[divided].Tensor
	}
	names := []string{t.Name, quant.SourceTensor(t.Name)}
	if l := t.Producer; l != nil && l.Op == graph.Quantize {
		names = append(names, l.Inputs[0].Name)
	}
	for _, name := range names {
		if _, ok := all[name]; ok && t.RealType().IsFloat() {
			return name
		}
	}
	return ""
}

// given runs the float network on what the layers of the engine read of FP32's tensors.
func (c *causes) given(want map[string]numeric.Value, run func(map[string]map[string]numeric.Value) (map[string]numeric.Value, error)) (err error) {
	layers := map[string]map[string]numeric.Value{}
	for i, s := range c.plan.Steps {
		if s.Reformat {
			continue
		}
		values := map[string]numeric.Value{}
		for k, in := range s.In {
			if in < 0 {
				continue
			}
			t := c.plan.Slots[in].Tensor
			name := c.sourceName(want, t)
			if name == "" || !want[name].Type.IsFloat() {
				continue
			}
			v, err := c.read(i, k, t, want[name], c.plan.Slots[in].Desc.Type)
			if err != nil {
				return fmt.Errorf("layer %s: tensor %s: %w", s.Name, t.Name, err)
			}
			values[name] = v
		}
		for _, from := range s.From {
			layers[from] = values
		}
	}
	c.float, err = run(layers)
	return err
}

// read returns what a step reads of a tensor of FP32 at input k, and notes what it lost.
func (c *causes) read(step, k int, t *graph.Tensor, ref numeric.Value, typ numeric.DataType) (numeric.Value, error) {
	divided := dividedAs(t, c.scaled)
	if divided != "" {
		ref = c.scaled.Divide(divided, ref)
	}
	v := numeric.ToReal(storedAs(ref, typ, t.Range), t.Range)
	e := c.steps[step].reads[k]
	if e == nil {
		e = &quant.ChannelErrors{Axis: channelAxis(t)}
		if l := c.plan.Steps[step].Layer; k == 0 && l.Op.IsProduct() {
			e.Axis = quant.ChannelAxis(l)
		}
		c.steps[step].reads[k] = e
	}
	if err := e.Add(ref.Floats(), v.Floats(), ref.Dims); err != nil {
		return v, err
	}
	if divided != "" {
		_, v = c.scaled.Restore(divided, v)
	}
	return v, nil
}

// output takes in what a step that is given FP32's tensors makes of them: got, of the items that count, in the channels of the source
// network, as ref is.
func (c *causes) output(step int, t *graph.Tensor, batch compare.Batch, ref numeric.Value, got []float32) error {
	s := &c.steps[step]
	source := c.sourceName(c.float, t)
	want := ref.Floats()
	float, ok := c.float[source]
	if !ok {
		float = ref
	} else {
		float = batch.Counted(float, batch.Axis(t.Dims))
	}
	mid := float.Floats()
	if len(mid) != len(want) && sizedByRun(t) { // another number of boxes was found
		return nil
	}
	if len(mid) != len(want) {
		return fmt.Errorf("tensor %s has %d elements in the float network, %d in FP32", t.Name, len(mid), len(want))
	}
	s.tensor, s.source = t, source
	square := func(a, b float32) float64 {
		d := float64(a) - float64(b)
		if !(math.Abs(d) <= math.MaxFloat64) {
			return 0
		}
		return d * d
	}
	for i, w := range want {
		s.signal += square(w, 0)
		s.inputs += square(mid[i], w)
		s.rest += square(got[i], mid[i])
	}
	s.others.Axis = channelAxis(t)
	if err := s.others.Add(mid, got, ref.Dims); err != nil || t.Type == numeric.F32 {
		return err
	}
	divided := dividedAs(t, c.scaled)
	plain, inner := float, ref
	if divided != "" {
		plain, inner = c.scaled.Divide(divided, float), c.scaled.Divide(divided, ref)
	}
	kept := numeric.ToReal(storedAs(plain, t.Type, t.Range), t.Range)
	if divided != "" {
		_, kept = c.scaled.Restore(divided, kept)
	}
	for i, v := range kept.Floats() {
		s.output += square(v, mid[i])
	}
	s.stored.Axis = channelAxis(t)
	stored := numeric.ToReal(storedAs(inner, t.Type, t.Range), t.Range).Floats()
	if t.Quantized() && len(t.Range.Scale) == 1 {
		s.storage.Add(inner.Floats(), stored, t.Range, t.Type)
	}
	return s.stored.Add(inner.Floats(), stored, inner.Dims)
}

// parts divides the rest of what is lost: what the layer computes, weights included, what its corrected bias moves, and what its output
// loses when it is stored.
func (s *stepCause) parts() (computing, corrected, output float64) {
	output = min(s.output, s.rest)
	computing = s.rest - output
	if s.corrected {
		corrected = min(computing, s.others.Shifted()*s.rest)
	}
	return computing - corrected, corrected, output
}

// effect returns what of a step's error by its inputs goes with input k, by what each lost and the weights that it meets.
func (c *causes) effect(step, k int) float64 {
	s := &c.steps[step]
	power := func(k int) (sum float64) {
		noise := s.reads[k].Noise()
		if l := c.plan.Steps[step].Layer; k == 0 && l.Op.IsProduct() && len(l.Inputs) > 1 {
			if by := quant.WeightPower(l); len(by) == len(noise) {
				for i, n := range noise {
					sum += n * by[i]
				}
				return sum
			}
		}
		for _, n := range noise {
			sum += n / float64(len(noise))
		}
		return sum
	}
	var all float64
	for i := range s.reads {
		all += power(i)
	}
	if all == 0 {
		return 0
	}
	return s.inputs * power(k) / all
}

// maker returns the step whose range a tensor that a step reads has: what only moves elements passes it on.
func (c *causes) maker(t *graph.Tensor) int {
	for range c.plan.Steps {
		i, ok := c.makers[t.Name]
		if !ok {
			return -1
		}
		from := movedFrom(c.plan.Steps[i].Layer, t)
		if from == nil {
			return i
		}
		t = from
	}
	return -1
}

// added returns the noise that each step adds, by the power of the signal where it shows, and the step where storing its output shows
// most; -1: at its own.
func (c *causes) added() (noise []float64, at []int) {
	noise, at = make([]float64, len(c.steps)), make([]int, len(c.steps))
	read, shown := make([]bool, len(c.steps)), make([]float64, len(c.steps))
	for i := range at {
		at[i] = -1
	}
	for i, s := range c.plan.Steps {
		if s.Reformat || c.steps[i].signal == 0 {
			continue
		}
		for k := range c.steps[i].reads {
			m := c.maker(c.plan.Slots[s.In[k]].Tensor)
			if m < 0 {
				continue
			}
			read[m] = true
			if e := c.effect(i, k) / c.steps[i].signal; e > shown[m] {
				shown[m], at[m] = e, i
			}
		}
	}
	for i, s := range c.steps {
		if s.signal == 0 {
			continue
		}
		computing, _, lost := s.parts()
		noise[i] = computing / s.signal
		if !read[i] {
			shown[i] = lost / s.signal
		}
		noise[i] += shown[i]
	}
	return noise, at
}

// report returns what was found of a step; nil where nothing was.
func (c *causes) report(step int, noise []float64, at []int) *report.LayerCause {
	s := &c.steps[step]
	if s.tensor == nil {
		return nil
	}
	r := &report.LayerCause{Adds: ratio(1, noise[step]), Stored: strings.ToLower(s.tensor.Type.String())}
	if s.signal == 0 {
		r.Adds = quant.MaxDB
	}
	if at[step] >= 0 {
		r.AddsAt = c.plan.Steps[at[step]].Name
	}
	if all := s.inputs + s.rest; all > 0 {
		computing, corrected, output := s.parts()
		r.Inputs, r.Computing, r.Corrected, r.Output = s.inputs/all, computing/all, corrected/all, output/all
	}
	if all := s.storage.Clipped + s.storage.Rounded; all > 0 {
		r.Clipped = s.storage.Clipped / all
	}
	if s.tensor.Quantized() && s.stored.Known() {
		r.Reach = channelReach(s.stored.Spread(), s.tensor.Range, s.tensor.Type)
		if len(r.Reach.Outliers) > 0 {
			r.Reach.Cure = c.cures[s.source]
		}
	}
	return r
}

// maxReach bounds the entries of a [report.ChannelReach].
const maxReach = 1024

// channelReach tells how far channels reach that share a range, one that is not set where they have none.
func channelReach(spread quant.ChannelSpread, all numeric.Range, t numeric.DataType) *report.ChannelReach {
	n := len(spread.Low)
	r := &report.ChannelReach{Channels: n, Group: max(1, (n+maxReach-1)/maxReach)}
	for i := 0; i < n; i += r.Group {
		r.Low = append(r.Low, threeDigits(slices.Min(spread.Low[i:min(i+r.Group, n)])))
		r.High = append(r.High, threeDigits(slices.Max(spread.High[i:min(i+r.Group, n)])))
	}
	o := spread.Outliers()
	r.Amax, r.Rest, r.Outliers, r.Bits = threeDigits(o.Reach), threeDigits(o.Rest), o.Channels, round(o.Bits())
	if all.IsSet() {
		scale := float64(all.ScaleAt(0))
		needed := scale
		if len(o.Channels) > 0 {
			needed = spread.ScaleWithout(o.Channels, all, t)
		}
		r.Scale, r.Needed, r.Bits = threeDigits(scale), threeDigits(needed), round(math.Log2(scale/needed))
	}
	return r
}

// movedFrom returns the tensor whose elements and range one has that a layer gives, where the layer only moves them; else nil.
func movedFrom(l *graph.Layer, t *graph.Tensor) *graph.Tensor {
	if l == nil || l.DataInputs() != 1 || l.Movement() < graph.Moved || len(l.Inputs) == 0 {
		return nil
	}
	if from := l.Inputs[0]; from.Type == t.Type && slices.Equal(from.Range.Scale, t.Range.Scale) {
		return from
	}
	return nil
}
