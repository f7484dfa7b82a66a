package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	xcpu "golang.org/x/sys/cpu"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/internal/onnxruntime"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/testdata"
)

// ortBackend is the name by which --backends knows ONNX Runtime.
const ortBackend = "onnxruntime"

// ortLimit is how long ONNX Runtime may take for a batch.
const ortLimit = 10 * time.Minute

// What shows by how much an engine of a model that rounds to integers may differ from ONNX Runtime.
const (
	movedInputs = "moved inputs"
	withFusions = "ONNX Runtime's fusions and " + movedInputs
)

// openRuntime returns ONNX Runtime as something to compare with; perLayer: with what nodes make in between. It computes the nodes of a
// quantised model as they are written: what it fuses them to makes integers of biases and rounds a step in a thousand otherwise, which
// shows by how much the engine may differ, together with inputs that are moved a little; where it cannot load what it fuses them to,
// warn is told, and these alone show it, as they do of a model that quantises as it runs. A model in floating point it runs as it is,
// whatever the precision of the configuration: the device says so.
func openRuntime(ctx context.Context, m *model.Model, cfg config.Config, perLayer bool, warn func(string)) (c sessions.Contender, closeIt func(), err error) {
	source, err := runtimeModel(m, perLayer)
	if err != nil {
		return c, nil, err
	}
	r, err := onnxruntime.Open(ctx, onnxruntime.Options{Optimize: !m.Quantized, Limit: ortLimit})
	if err != nil {
		return c, nil, err
	}
	c = sessions.Contender{
		Name: ortBackend, Device: report.Device{Backend: ortBackend, Device: "ONNX Runtime " + r.Version + ", on the CPU"}, Outside: onRuntime(m, r, source),
	}
	if !m.Quantized {
		c.Device.Device += asItIs(cfg)
		if slices.ContainsFunc(m.Network.AllLayers(), func(l *graph.Layer) bool { return l.Op == graph.DynamicQuantize }) {
			c.Variant = moved(m.Network, c.Outside)
		}
		return c, r.Close, nil
	}
	c.Device.Device += ", the quantised nodes as they are written"
	if layers := saturating(m.Network); len(layers) > 0 && saturates() {
		warn(saturationText(layers))
	}
	fused, err := onnxruntime.Open(ctx, onnxruntime.Options{Optimize: true, Limit: ortLimit})
	if err != nil {
		r.Close()
		return c, nil, err
	}
	source.More = nil
	if err := fused.Load(ctx, source); err != nil {
		fused.Close()
		if ctx.Err() != nil {
			r.Close()
			return c, nil, ctx.Err()
		}
		reason, _, _ := strings.Cut(err.Error(), ". ")
		shows := "nothing tells"
		if c.Variant = moved(m.Network, c.Outside); c.Variant != nil {
			shows = movedInputs + " alone tell"
		}
		warn("compared without ONNX Runtime's fusions, with which it cannot load the model, so that " + shows + " how much roundings differ: " + reason)
		c.Device.Device += " and without its fusions, which fail"
		return c, r.Close, nil
	}
	c.Variant = &compare.Variant{Name: withFusions, Run: onRuntime(m, fused, source).Moved()}
	return c, func() { r.Close(); fused.Close() }, nil
}

// moved is a variant with moved inputs; nil where the model has none that can be moved.
func moved(n *graph.Network, run compare.Outside) *compare.Variant {
	if !slices.ContainsFunc(n.Inputs, func(t *graph.Tensor) bool { return t.Type == numeric.F32 }) {
		return nil
	}
	return &compare.Variant{Name: movedInputs, Run: run.Moved()}
}

// saturates reports whether ONNX Runtime adds pairs of products of unsigned and signed bytes in 16 bits, where they saturate, for want of
// an instruction of this processor. Its fused nodes are kept from it (session.x64quantprecision), those as written are not.
func saturates() bool {
	return runtime.GOARCH == "amd64" && !xcpu.X86.HasAVX512VNNI && !xcpu.X86.HasAVXVNNI
}

// saturating returns the layers of which sums may saturate so: products of integers whose weights are signed.
func saturating(n *graph.Network) (names []string) {
	weights := map[*graph.Op]int{graph.MatMulInteger: 1, graph.ConvInteger: 1, graph.QLinearConv: 3, graph.QLinearMatMul: 3}
	for _, l := range n.AllLayers() {
		if i, ok := weights[l.Op]; ok && i < len(l.Inputs) && l.Inputs[i].Type == numeric.I8 {
			names = append(names, l.Name)
		}
	}
	return names
}

// saturationText says of which layers.
func saturationText(layers []string) string {
	which := layers[0]
	if n := len(layers) - 1; n > 0 {
		which += fmt.Sprintf(" and %d more", n)
	}
	return "this processor has no VNNI, and ONNX Runtime adds products of bytes in 16 bits, where they saturate: in " + which + " it may be wrong where the engine is right"
}

// asItIs says that the precision of a configuration is not that of a model which another runtime is given; "" where it has none.
func asItIs(cfg config.Config) string {
	switch {
	case cfg.Quantizes():
		return fmt.Sprintf(", the model as it is and not in %s (trtui export --qdq makes one that it runs so)", cfg.Precision)
	case cfg.Precision != config.FP32:
		return fmt.Sprintf(", the model as it is and not in %s", cfg.Precision)
	}
	return ""
}

// onRuntime runs a model as ONNX Runtime is given it.
func onRuntime(m *model.Model, r *onnxruntime.Runtime, source onnxruntime.Model) compare.Outside {
	return func(ctx context.Context, _ compare.Span, in map[string]numeric.Value) (map[string]numeric.Value, error) {
		if path, how := m.Changed(); how != "" {
			return nil, fmt.Errorf("%s %s", path, how)
		}
		if len(m.Constants) > 0 {
			in = maps.Clone(in)
			maps.Copy(in, m.Constants)
		}
		return r.Run(ctx, source, in)
	}
}

// runtimeModel returns a model as ONNX Runtime is given it: its file or, of an engine, ONNX that is made of what it was built from.
func runtimeModel(m *model.Model, perLayer bool) (s onnxruntime.Model, err error) {
	var between []string
	for _, l := range m.Network.Layers {
		for _, t := range l.Outputs {
			if !slices.Contains(m.Network.Outputs, t) {
				between = append(between, t.Name)
			}
		}
	}
	switch {
	case m.Path == model.Embedded:
		s.Data = testdata.Model()
	case m.Engine == nil:
		if s.Path, err = filepath.Abs(m.Path); err != nil || !perLayer {
			return s, err
		}
		parts, err := onnx.ReadParts(m.Path)
		if err != nil {
			return s, err
		}
		has := map[string]bool{}
		for _, n := range parts.Nodes {
			for _, name := range n.Outputs {
				has[name] = true
			}
		}
		between = slices.DeleteFunc(between, func(name string) bool { return !has[name] })
	default:
		if err := m.NeedsSource("the model for onnxruntime"); err != nil {
			return s, err
		}
		var b bytes.Buffer
		if err := onnx.Export(&b, m.Network); err != nil {
			return s, err
		}
		s.Data = b.Bytes()
	}
	if perLayer {
		s.More = between
	}
	return s, nil
}

// loadedRuns returns the outputs that files saved as something to compare with, each by the runner that made it, or by its file.
func loadedRuns(files []string) ([]sessions.Contender, error) {
	var list []sessions.Contender
	for _, file := range files {
		runs, err := dataset.ReadResults(file)
		if err != nil {
			return nil, err
		}
		for _, r := range runs {
			name := r.Runner
			if name == "" {
				name = filepath.Base(file)
			}
			list = append(list, sessions.Contender{
				Name: name, Device: report.Device{Backend: "file", Device: "outputs saved in " + file},
				Outside: func(_ context.Context, s compare.Span, _ map[string]numeric.Value) (map[string]numeric.Value, error) {
					return savedPart(r.Iterations, s)
				},
			})
		}
	}
	return list, nil
}

// savedPart returns what saved iterations have of a batch's items: there are as many iterations as items, or else the items lie one
// behind the other along the first axes.
func savedPart(iterations []map[string]numeric.Value, s compare.Span) (map[string]numeric.Value, error) {
	if len(iterations) == s.Of {
		iterations = iterations[s.First : s.First+s.Count]
		s = compare.Span{Count: s.Count, Of: s.Count}
	}
	if s.Of == 1 && len(iterations) == 1 {
		return iterations[0], nil
	}
	all := savedValues{}
	for _, it := range iterations {
		if err := all.add("output", it); err != nil {
			return nil, errors.New("the iterations differ in shape, and are not as many as the items")
		}
	}
	part := map[string]numeric.Value{}
	for name, v := range all {
		if len(v.Dims) == 0 || v.Dims[0]%s.Of != 0 {
			return nil, fmt.Errorf("output %s of shape %v is not of %s; --items and --data choose what is run", name, v.Dims, count(s.Of, "item"))
		}
		rows := v.Dims[0] / s.Of
		part[name] = v.Rows(rows*s.First, rows*(s.First+s.Count))
	}
	return part, nil
}
