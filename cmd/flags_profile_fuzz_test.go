package cmd

import (
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
)

// FuzzProfileFlags takes any values of --shapes and of the flags of profiles, separated by blanks, for a network with open axes, a shape
// as an input and a count: what is taken has values for all symbols, in each profile from the least to the largest.
func FuzzProfileFlags(f *testing.F) {
	for _, s := range []string{
		"--minShapes x:1x4,to:1x2 --optShapes x:4x4,to:4x4 --maxShapes x:9x4,to:9x4", "--shapes x:3x4,to:-1x2",
		"--shapes x:3x4,to:0x-1 --profile 1 --optShapes x:2x4,to:2x4 --profile 0 --minShapes x:1x4 --maxShapes x:8x4,to:-1x4",
		"--profile 2 --shapes 1x4", "--shapes to:9999999x16777216,x:16777216x4", "--maxShapes x:0x4,to:0x0 --shapes x:-1x4",
	} {
		f.Add(s)
	}
	d := graph.Define("open")
	x := d.Input("x", numeric.F32, symbolic.Symbol("n"), symbolic.Const(4))
	y := d.ReshapeTo(x, d.ShapeInput("to", symbolic.Symbol("rows"), symbolic.Symbol("columns")))
	d.Output("y", d.Relu(y))
	d.Output("places", d.NonZero(y))
	n, err := d.Network()
	if err != nil {
		f.Fatal(err)
	}
	m := &model.Model{Network: n}
	f.Fuzz(func(t *testing.T, text string) {
		g := &configFlags{}
		g.define()
		words := strings.Fields(text)
		for len(words) >= 2 {
			flag := g.lookup(strings.TrimPrefix(words[0], "--"))
			if flag == nil {
				break
			}
			if flag.Value.Set(words[1]) != nil {
				return
			}
			flag.Changed, words = true, words[2:]
		}
		var cfg config.Config
		if cfg.Shapes, err = parseShapes("shapes", g.shapes); err != nil || g.profiles(&cfg) != nil || g.named(m, &cfg, nil) != nil {
			return
		}
		for _, p := range append([]config.Profile{{Shapes: cfg.Shapes, MinShapes: cfg.MinShapes, MaxShapes: cfg.MaxShapes}}, cfg.Profiles...) {
			one := config.Config{Shapes: p.Shapes, MinShapes: p.MinShapes, MaxShapes: p.MaxShapes, Batch: 1}
			env, err := m.Symbols(one)
			if err != nil || model.CheckExtents(m, env) != nil {
				continue
			}
			if open := n.Unbound(env); len(open) > 0 || env["n"]*4 != env["rows"]*env["columns"] {
				t.Fatalf("%s: %v without %v", text, env, open)
			}
			low, high, err := model.RangesOf(m, one)
			for name, v := range low {
				if err == nil && v > high[name] && !strings.HasPrefix(name, "count") {
					t.Fatalf("%s: %s from %d to %d", text, name, v, high[name])
				}
			}
		}
	})
}
