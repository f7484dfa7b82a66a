package quant

import (
	"errors"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// TestByToken: products of rows round these by ranges of their own, once for all that read one tensor, need no range of calibration and
// leave the stream beside them alone; convolutions, and products that the target has not by rows, are quantised by one range.
func TestByToken(t *testing.T) {
	noRows := func(l *graph.Layer) error {
		if l.Op == graph.DynamicQuantizeMatMul {
			return errors.New("no kernel")
		}
		return nil
	}
	for _, c := range []struct {
		name     string
		scheme   Scheme
		supports func(*graph.Layer) error
		rows     graph.RowRange // OneRange: they are quantised by one
	}{
		{"with zero points", Scheme{Asymmetric: true, ByToken: true}, nil, graph.RowsWithZero},
		{"symmetric", Scheme{ByToken: true}, nil, graph.RowsSymmetric},
		{"static", Scheme{Asymmetric: true}, nil, graph.OneRange},
		{"not by the target", Scheme{Asymmetric: true, ByToken: true}, noRows, graph.OneRange},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, decisions := place(t, streamNet(t, true), MinMax{Scheme: c.scheme}, Policy{Scheme: c.scheme, Supports: c.supports})
			rounded := 0
			for _, l := range n.Layers {
				if l.Op == graph.RoundRows {
					if rounded++; l.Attrs.(graph.RoundRowsAttrs).Rows != c.rows {
						t.Errorf("%s: %v", l.Name, l.Attrs)
					}
				}
				if l.Op != graph.MatMul {
					continue
				}
				if by := l.Inputs[0].Producer.Op; (by == graph.RoundRows) != (c.rows != graph.OneRange) || l.Inputs[1].Producer.Op != graph.Dequantize {
					t.Errorf("%s reads what %s gives, weights of %v", l.Name, by.Name, l.Inputs[1].Producer)
				}
				if added := l.EpilogueInputs(); len(added) > 0 && added[0].Type != numeric.F32 {
					t.Errorf("%s adds %v", l.Name, added[0])
				}
			}
			if want := 3; c.rows != graph.OneRange && rounded != want || c.rows == graph.OneRange && rounded != 0 {
				t.Errorf("rows are rounded %d times", rounded)
			}
			for _, d := range decisions {
				product := strings.HasPrefix(d.Layer, "product") || d.Layer == "head"
				if product != (d.Precision == numeric.I8) {
					t.Errorf("%s is in %s: %s", d.Layer, d.Precision, d.Reason)
				}
				if one := product && c.supports != nil; one != (d.OneRange != "") {
					t.Errorf("%s: one range since %q", d.Layer, d.OneRange)
				}
				if product && c.supports != nil && !strings.Contains(d.Reason, "by one range: the target has none for rows: no kernel") {
					t.Errorf("%s: %s", d.Layer, d.Reason)
				}
			}
		})
	}
	n := streamNet(t, true)
	decisions, err := Place(n, nil, Policy{Scheme: Scheme{Asymmetric: true, ByToken: true}})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range decisions {
		if d.Layer == "head" && d.Precision != numeric.I8 {
			t.Errorf("without ranges of calibration: %s", d.Reason)
		}
	}
}

// TestByTokenShared: two products that read one tensor have it rounded once, and one of weights that lie the other way round, with a bias,
// is one too; a scaled one is not.
func TestByTokenShared(t *testing.T) {
	b := newNet(t, "shared")
	x := b.n.AddInput("x", numeric.F32, symbolic.Shape(4, 16)...)
	b.n.MarkOutput(b.add("a", graph.MatMul, nil, x, b.random("wa", 16, 8)))
	b.n.MarkOutput(b.add("b", graph.Gemm, graph.GemmAttrs{Alpha: 1, Beta: 1, TransB: true}, x, b.random("wb", 8, 16), b.random("bias", 8)))
	b.n.MarkOutput(b.add("c", graph.Gemm, graph.GemmAttrs{Alpha: 2, Beta: 1}, x, b.random("wc", 16, 8)))
	n, decisions := place(t, b.n, MinMax{}, Policy{Scheme: Scheme{ByToken: true}})
	rows := n.Layer("a").Inputs[0]
	if rows.Producer.Op != graph.RoundRows || n.Layer("b").Inputs[0] != rows || n.Layer("c").Inputs[0].Producer.Op != graph.Dequantize {
		t.Errorf("a reads %s, b %s, c %s", rows, n.Layer("b").Inputs[0], n.Layer("c").Inputs[0])
	}
	for _, d := range decisions {
		if want := "c has factors, or transposes its rows"; d.Layer == "c" && !strings.Contains(d.Reason, want) {
			t.Errorf("%s, want %s", d.Reason, want)
		}
	}
}

// TestByTokenOfLayers: products have ranges by token that a rule asks it for, beside others that read the same by one range: they read
// it before it is quantised for these.
func TestByTokenOfLayers(t *testing.T) {
	d := graph.Define("shared")
	x := d.Relu(d.Input("x", numeric.F32, symbolic.Shape(1, 4, 8)...))
	weights := func(name string) *graph.Tensor {
		v := numeric.NewValue(numeric.F32, 8, 8)
		for i := range v.F32() {
			v.F32()[i] = float32(i%5) - 2
		}
		return d.Constant(name, v)
	}
	d.Output("y", d.MatMul(x, weights("w1")))
	d.Output("z", d.MatMul(x, weights("w2")))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	one := n.Layers[1].Name
	rules, err := ParseRules(one + ":int8:token")
	if err != nil || rules[0] != (Rule{one, numeric.I8, true}) || rules[0].String() != one+":int8:token" {
		t.Fatalf("%v, %v", rules, err)
	}
	placed, _ := place(t, n, MinMax{}, Policy{Rules: rules})
	by := map[string]string{}
	for _, l := range placed.Layers {
		if l.Op == graph.MatMul {
			p := l.Inputs[0].Producer
			by[l.Name] = p.Op.Name + " of " + p.Inputs[0].Producer.Op.Name
		}
	}
	if len(by) != 2 || by[one] != "RoundRows of "+n.Layers[0].Op.Name {
		t.Errorf("products read %v", by)
	}
	for _, wrong := range []string{"a:fp16:token", "a:token", ":int8:token"} {
		if _, err := ParseRules(wrong); err == nil {
			t.Errorf("%s is a rule", wrong)
		}
	}
}
