package passes

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/core/graph/pass"
)

// TestVariants checks that what bench/peers/variants.py exports of one architecture, in whatever way, becomes as many layers that
// are computed, with the results of the source. TRTUI_VARIANTS is its folder.
func TestVariants(t *testing.T) {
	folder := os.Getenv("TRTUI_VARIANTS")
	if folder == "" {
		t.Skip("TRTUI_VARIANTS is not set: no exports to compare")
	}
	list, err := filepath.Glob(filepath.Join(folder, "*", "*.onnx"))
	if err != nil || len(list) == 0 {
		t.Fatalf("no exports in %s: %v", folder, err)
	}
	layers, first := map[string]int{}, map[string]string{}
	for _, path := range list {
		family := filepath.Base(filepath.Dir(path))
		t.Run(family+"/"+filepath.Base(path), func(t *testing.T) {
			f, err := onnx.Open(graph.Ops(), path)
			if err != nil {
				t.Fatal(err)
			}
			got, _ := runPass(t, f.Network, Standard(), pass.Config{})
			got, _ = runPass(t, got, Lowering(), pass.Config{})
			sameMeaning(t, f.Network, got, 2e-6)
			n := computed(got)
			t.Logf("%d layers computed: %v", n, opCounts(got))
			switch {
			case strings.HasSuffix(family, "-padded"): // of what fills scores some exporters have another number
			case first[family] == "":
				layers[family], first[family] = n, filepath.Base(path)
			case n != layers[family]:
				t.Errorf("%d layers, but %d of %s", n, layers[family], first[family])
			}
		})
	}
}

// computed returns the number of layers whose results depend on the elements of inputs, and not on extents alone, views aside, and are
// asked for more than their extents.
func computed(n *graph.Network) int {
	count, depends := 0, map[*graph.Tensor]bool{}
	measured := map[*graph.Layer]bool{} // that nothing asks for elements
	for _, l := range slices.Backward(n.Layers) {
		measured[l] = l.Op == graph.ShapeOf || !slices.ContainsFunc(l.Outputs, func(t *graph.Tensor) bool {
			return n.IsOutput(t) || slices.ContainsFunc(t.Users, func(u *graph.Layer) bool { return !measured[u] })
		})
	}
	for _, t := range n.Inputs {
		depends[t] = true
	}
	for _, l := range n.Layers {
		if measured[l] || !slices.ContainsFunc(l.Inputs, func(t *graph.Tensor) bool { return depends[t] }) {
			continue
		}
		for _, t := range l.Outputs {
			depends[t] = true
		}
		if l.Op.Memory == graph.Written {
			count++
		}
	}
	return count
}
