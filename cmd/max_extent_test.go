package cmd

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/images"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// TestMaxExtent: a model of which data decide an extent runs where --max-extent says how large that can be; without it the error names
// the flag.
func TestMaxExtent(t *testing.T) {
	d := graph.Define("decided")
	length := d.Cast(d.Reduce(graph.ReduceMax, d.Abs(d.Input("x", numeric.F32, symbolic.Const(4))), false), numeric.I64)
	d.Output("y", d.Neg(d.Cast(d.Places(length, graph.PlacesAttrs{Most: 1, Count: "n"}), numeric.F32)))
	path := definedFile(t, d)
	run := func(args ...string) (string, error) {
		return call(t, runCommand(tables{backends: testTable()}), append([]string{path, "--backends", "cpu,eval", "--items", "2"}, args...)...)
	}
	if out, err := run("--max-extent", "40"); err != nil || !strings.Contains(out, "PASSED") {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := run(); err == nil || !strings.Contains(hintOn(err), "--max-extent N") {
		t.Errorf("no limit: %v; %s", err, hintOn(err))
	}
	large := fmt.Errorf("layer d: %w", &images.TooLarge{Rows: 3000, Columns: 10, Most: 2048})
	if hint := hintOn(large); !strings.Contains(hint, "--max-extent N") {
		t.Errorf("a large image: %s", hint)
	}
	for _, wrong := range []string{"-1", "100000000", "many"} {
		if _, err := run("--max-extent", wrong); err == nil {
			t.Errorf("--max-extent %s is taken", wrong)
		}
	}
}
