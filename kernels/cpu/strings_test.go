package cpu

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
)

// loadStrings loads a network in which strings are read, moved, counted and handed on by a loop.
func loadStrings(t *testing.T, b *Backend) (*graph.Network, *run.Loaded) {
	t.Helper()
	d := graph.Define("strings")
	x := d.Input("x", numeric.Str, symbolic.Const(2), symbolic.Const(3))
	parts, counts := d.StringSplit(d.Reshape(x, -1), graph.StringSplitAttrs{Splits: -1, Most: 5})
	d.Output("parts", parts)
	d.Output("counts", counts)
	d.Output("joined", d.Concat(1, d.StringCase(x, graph.StringCaseAttrs{To: graph.CaseUpper}), d.Constant("tail", numeric.Strings([]string{"t", "u"}, 2, 1))))
	d.Output("picked", d.Gather(d.Constant("table", numeric.Strings([]string{"none", "one", "two"}, 3)), d.Cast(d.StringIndex(x, graph.Words{"a", "b"}), numeric.I64), 0))
	first, start := d.Slice(x, graph.SliceAttrs{Starts: []int{0}, Ends: []int{1}, Axes: []int{0}}), d.Constant("start", numeric.Strings([]string{">", ">", ">"}, 1, 3))
	looped := d.Loop(d.Constant("times", numeric.Values(numeric.I64, []int64{3})), nil, []*graph.Tensor{start}, func(b *graph.Definition, _, goes *graph.Tensor, c []*graph.Tensor) (*graph.Tensor, []*graph.Tensor) {
		next := b.StringConcat(c[0], first)
		return b.Identity(goes), []*graph.Tensor{next, b.Identity(next)}
	})
	d.Output("last", looped[0])
	d.Output("all", looped[1])
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	return n, loadUntimed(t, b, n)
}

// loadUntimed loads a network as an engine of FP32 whose tactics are not timed.
func loadUntimed(t *testing.T, b *Backend, n *graph.Network) *run.Loaded {
	t.Helper()
	ctx := context.Background()
	cfg := pass.Config{Target: build.Target(b, nil)}
	o, err := build.Optimize(ctx, n, cfg)
	if err != nil {
		t.Fatal(err)
	}
	l, err := build.Lower(ctx, o, build.LowerConfig{Precision: numeric.F32, Pass: cfg}, run.Supports(b, nil))
	if err != nil {
		t.Fatal(err)
	}
	p, err := build.Plan(ctx, l.Network, nil, b, build.PlanConfig{Untimed: true})
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := run.Load(ctx, p, b)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(loaded.Close)
	return loaded
}

// TestStrings runs an engine of strings in several contexts at once, again and again with others, against the layers' definition.
func TestStrings(t *testing.T) {
	b := Open(2)
	defer b.Close()
	n, loaded := loadStrings(t, b)
	var group sync.WaitGroup
	for user := range 3 {
		c, err := loaded.NewContext()
		if err != nil {
			t.Fatal(err)
		}
		group.Go(func() {
			defer c.Close()
			for k := range 20 {
				list := []string{"a", fmt.Sprint(user, " ", k), "", "b", fmt.Sprint("x y z ", k), "ü"}
				in := map[string]numeric.Value{"x": numeric.Strings(list, 2, 3)}
				want, err := n.Eval(context.Background(), in, nil)
				if err != nil {
					t.Error(err)
					return
				}
				if err := c.SetInputs(in); err != nil {
					t.Error(err)
				}
				for range 2 { // the input stays
					if err := c.Execute(); err != nil {
						t.Error(err)
					}
				}
				got, err := c.Outputs()
				for name, v := range want {
					if err != nil || got[name].Type != v.Type || !slices.Equal(got[name].Dims, v.Dims) || string(got[name].Data) != string(v.Data) {
						t.Errorf("output %s: %s%v %q, %v; want %s%v %q", name, got[name].Type, got[name].Dims, got[name].Data, err, v.Type, v.Dims, v.Data)
					}
				}
			}
		})
	}
	group.Wait()
}

// TestStringsRefused: bytes that are no strings, and more parts than there is room for.
func TestStringsRefused(t *testing.T) {
	b := Open(1)
	defer b.Close()
	_, loaded := loadStrings(t, b)
	c, err := loaded.NewContext()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetInput("x", numeric.Value{Type: numeric.Str, Dims: []int{2, 3}, Data: []byte{9}}); err == nil {
		t.Error("damaged strings are taken")
	}
	if err := c.SetInput("x", numeric.Strings([]string{"a b c d e f", "", "", "", "", ""}, 2, 3)); err != nil {
		t.Fatal(err)
	}
	if err := c.Execute(); err == nil {
		t.Error("six parts are taken where five may be")
	}
}
