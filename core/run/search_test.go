package run

import (
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/kernels"
)

// TestChangesOfManyEdges: where every layer reads the results of all before it, the changes that are tried ask for no more inputs than a
// few times as many as there are edges.
func TestChangesOfManyEdges(t *testing.T) {
	const layers = 120
	n := graph.NewNetwork("dense")
	made := []*graph.Tensor{n.AddInput("x", numeric.F32, symbolic.Const(0), symbolic.Const(32))} // joined as often as one likes
	c := &Choice{ctx: t.Context(), Candidates: &Candidates{network: n}, options: map[*graph.Layer][]option{}, launches: map[conversion]term{}}
	edges := 0
	for range layers {
		l, err := n.Add("", graph.Concat, graph.ConcatAttrs{Axis: 0}, made, "")
		if err != nil {
			t.Fatal(err)
		}
		edges += len(made)
		made = append(made, l.Outputs[0])
		c.busy = append(c.busy, l)
		c.options[l] = []option{{in: kernels.Linear, out: kernels.Linear}, {in: kernels.C16, out: kernels.C16}}
	}
	pick := map[*graph.Layer]int{}
	for _, l := range c.busy {
		pick[l] = 0
	}
	c.start(pick)
	asked := 0
	for layers := range c.changes() {
		for _, l := range layers {
			asked += len(l.Inputs)
		}
	}
	if most := 30 * edges; asked == 0 || asked > most {
		t.Errorf("changes of a network of %d edges ask for %d inputs, want at most %d", edges, asked, most)
	}
}
