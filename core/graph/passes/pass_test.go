package passes

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes/quantise"
	"github.com/trtui/trtui/core/graph/passes/recognise"
	"github.com/trtui/trtui/core/graph/passes/simplify"
)

func TestOrderOfTables(t *testing.T) {
	for _, table := range [][]pass.Pass{Standard(), Lowering()} {
		if err := checkOrder(table); err != nil {
			t.Error(err)
		}
	}
	known := map[string]bool{}
	for _, p := range append(Standard(), Lowering()...) {
		known[p.Name] = true
		if p.Doc == "" || len(p.Rules) == 0 || strings.ContainsAny(p.Name, " :,") {
			t.Errorf("pass %q: incomplete row", p.Name)
		}
	}
	for _, c := range order {
		if !known[c.first] || !known[c.then] {
			t.Errorf("order of %s and %s: no such pass", c.first, c.then)
		}
	}
	backwards := Standard()
	slices.Reverse(backwards)
	if checkOrder(backwards) == nil || checkOrder([]pass.Pass{simplify.DeadCode, simplify.DeadCode}) == nil {
		t.Error("a wrong order is accepted")
	}
}

// TestEveryPass: each pass has a network in testdata on which one of its rules applies.
func TestEveryPass(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.golden")
	if err != nil {
		t.Fatal(err)
	}
	var reports strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		reports.Write(text)
	}
	for _, p := range append(Standard(), Lowering()...) {
		if !slices.ContainsFunc(p.Rules, func(r string) bool { return strings.Contains(reports.String(), "\nfired  "+r+":") }) {
			t.Errorf("no golden file has pass %s apply: write a test of it with testPass, and its files with -update", p.Name)
		}
	}
}

func TestSiteText(t *testing.T) {
	for _, s := range []pass.Site{
		pass.NewSite("fuse-activation", "Relu_2", "Conv_1"),
		pass.NewSite("gelu", "/head/act/Erf", "a, b", "100%", "naïve", "x:y"),
	} {
		got, err := pass.ParseSite(s.String())
		if err != nil || !got.Equal(s) {
			t.Errorf("%s became %s, %v", s, got, err)
		}
	}
	for _, text := range []string{"", "rule", "rule:", ":a", "rule:a,,b", "rule:%zz"} {
		if s, err := pass.ParseSite(text); err == nil {
			t.Errorf("%q became %v", text, s)
		}
	}
}

// residualBlock is conv-bn-relu-conv-bn, added to its input, relu.
func residualBlock(n *net) *graph.Network {
	x := n.input("x", 1, 4, 6, 6)
	a := n.relu("Relu_1", n.batchNorm("Bn_1", n.conv("Conv_1", x, 4, 3, 1, 1, false)))
	b := n.batchNorm("Bn_2", n.conv("Conv_2", a, 4, 3, 1, 1, true))
	return n.output(n.relu("Relu_2", n.binary("Add", elementwise.Add, b, x)))
}

func TestDisable(t *testing.T) {
	n := residualBlock(newNet(t, "block"))
	full, steps := runPass(t, n, Standard(), pass.Config{})
	if len(full.Layers) != 2 {
		t.Fatalf("want 2 layers:\n%s", full)
	}
	for _, s := range steps {
		for _, f := range s.Fired {
			got, steps := runPass(t, n, Standard(), pass.Config{DisableSites: []pass.Site{f.Site}})
			sameMeaning(t, n, got, 1e-5)
			found := false
			for _, s := range steps {
				found = found || slices.ContainsFunc(s.Missed, func(m pass.Missed) bool { return m.Site.Equal(f.Site) && m.Reason == pass.Disabled })
				if slices.ContainsFunc(s.Fired, func(g pass.Fired) bool { return g.Site.Equal(f.Site) }) {
					t.Errorf("%s fired though it is switched off", f.Site)
				}
			}
			if !found {
				t.Errorf("no miss for %s", f.Site)
			}
			// The site stays off when another rule is switched off as well.
			got, _ = runPass(t, n, Standard(), pass.Config{DisableSites: []pass.Site{f.Site}, DisableRules: []string{"fold-batch-norm"}})
			sameMeaning(t, n, got, 1e-5)
		}
		got, _ := runPass(t, n, Standard(), pass.Config{DisableRules: []string{s.Pass}})
		sameMeaning(t, n, got, 1e-5)
	}
	if _, _, err := Run(context.Background(), n, Standard(), pass.Config{DisableRules: []string{"no-such"}}); err == nil {
		t.Error("an unknown rule is accepted")
	}
}

func TestUntil(t *testing.T) {
	n := residualBlock(newNet(t, "block"))
	for i := range len(Standard()) + 2 {
		until := i
		if i == 0 {
			until = -1
		}
		got, steps := runPass(t, n, Standard(), pass.Config{Until: until})
		if want := min(i, len(Standard())); len(steps) != want {
			t.Errorf("until %d: %d steps, want %d", until, len(steps), want)
		}
		sameMeaning(t, n, got, 1e-5)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := Run(ctx, residualBlock(newNet(t, "block")), Standard(), pass.Config{}); err != context.Canceled && !strings.Contains(err.Error(), "canceled") {
		t.Errorf("got %v", err)
	}
}

func TestSupports(t *testing.T) {
	n := residualBlock(newNet(t, "block"))
	none := func(l *graph.Layer) error {
		if len(l.Inputs) > 3 {
			return errNoResidual
		}
		return nil
	}
	got, steps := runPass(t, n, Standard(), pass.Config{Supports: none})
	sameMeaning(t, n, got, 1e-5)
	if len(got.Layers) != 3 {
		t.Errorf("want 3 layers:\n%s", got)
	}
	last := steps[slices.IndexFunc(steps, func(s pass.Step) bool { return s.Pass == "fuse-residual" })]
	if len(last.Missed) != 1 || last.Missed[0].Reason != pass.NoTactic {
		t.Errorf("missed %v", last.Missed)
	}
}

type constError string

func (e constError) Error() string { return string(e) }

const errNoResidual = constError("epilogue reads a tensor")

// TestTarget checks that what a target does not compute stays in parts.
func TestTarget(t *testing.T) {
	m := normNet{newNet(t, "norm")}
	x := m.input("x", 3, 8, 16)
	n := m.output(m.op("Div", elementwise.Div, x, m.deviation(x)))
	refuse := func(l *graph.Layer) error {
		if l.Op == graph.RMSNorm {
			return constError("no normalisations")
		}
		return nil
	}
	got, steps := runPass(t, n, []pass.Pass{recognise.Norms}, pass.Config{Target: refuse})
	if m := steps[0].Missed; len(got.Layers) != len(n.Layers) || len(m) != 1 || m[0].Reason != pass.NoTactic || m[0].Detail != "no normalisations" {
		t.Errorf("missed %v in\n%s", m, got)
	}
}

// TestExpandWeights writes what becomes of weights of few bits where the target does not read them, with a bias and without.
func TestExpandWeights(t *testing.T) {
	refuse := func(l *graph.Layer) error {
		if l.Op == graph.MatMulNBits {
			return constError("no weights of few bits")
		}
		return nil
	}
	for name, bias := range map[string]bool{"plain": false, "bias": true} {
		t.Run(name, func(t *testing.T) {
			m := newNet(t, name)
			w := numeric.NewValue(numeric.U8, 5, 2, 8)
			for i := range w.Data {
				w.Data[i] = byte(i * 37)
			}
			in := []*graph.Tensor{m.input("x", 2, 3, 24), m.AddConst("w", w), m.weights("s", -.1, .1, 5, 2)}
			if bias {
				in = append(in, nil, m.weights("b", -1, 1, 5))
			}
			n := m.output(m.add("Few", graph.MatMulNBits, graph.NBitsAttrs{K: 24, Bits: 4, Block: 16}, in...))
			got, steps := runPass(t, n, []pass.Pass{quantise.ExpandWeights}, pass.Config{Target: refuse})
			sameMeaning(t, n, got, 1e-5)
			golden.RequireEqual(t, []byte(report(n, got, steps)))
			if kept, _ := runPass(t, n, []pass.Pass{quantise.ExpandWeights}, pass.Config{}); len(kept.Layers) != 1 || kept.Layers[0].Op != graph.MatMulNBits {
				t.Errorf("a target that reads them has\n%s", kept)
			}
		})
	}
}
