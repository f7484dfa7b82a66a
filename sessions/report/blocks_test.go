package report_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/trtui/trtui/sessions/report"
)

func TestBlocks(t *testing.T) {
	layer := func(name, op string) report.Layer { return report.Layer{Name: name, Op: op} }
	transformer := []report.Layer{layer("embed/Gather", "Gather"), layer("embed/ln", "LayerNorm")}
	for i := range 12 {
		for _, l := range []string{"qkv", "attention", "out", "ln", "up", "down"} {
			op := map[string]string{"attention": "Attention", "ln": "LayerNorm"}[l]
			if op == "" {
				op = "MatMul"
			}
			transformer = append(transformer, layer(fmt.Sprintf("layer.%d/%s", i, l), op))
		}
		transformer = append(transformer, layer(fmt.Sprintf("layer.%d/ln2", i), "LayerNorm"))
	}
	transformer = append(transformer, layer("head", "MatMul"))

	stages := []report.Layer{layer("stem", "Conv")}
	for stage, n := range []int{3, 2, 5} {
		for i := range n {
			for _, op := range []string{"Conv", "Depthwise", "Pool"} {
				stages = append(stages, report.Layer{Name: fmt.Sprintf("s%d.%d.%s", stage, i, op), Op: op, Attrs: fmt.Sprint(stage)})
			}
		}
	}
	unturned := func(change func(l *report.Layer)) []report.Layer {
		list := slices.Clone(transformer)
		change(&list[2+7*11+1])
		return list
	}
	same := make([]report.Layer, 40)
	for _, tt := range []struct {
		name   string
		layers []report.Layer
		want   []report.Block
	}{
		{"none", nil, nil},
		{"transformer", transformer, []report.Block{{First: 2, Size: 7, Count: 12}}},
		{"the last without angles", unturned(func(l *report.Layer) { l.Inputs = []string{"q", "k", "v"} }), []report.Block{{First: 2, Size: 7, Count: 11}}},
		{"the last without constant angles", unturned(func(l *report.Layer) { l.Weights = 64 }), []report.Block{{First: 2, Size: 7, Count: 11}}},
		{"stages", stages, []report.Block{{First: 1, Size: 3, Count: 3}, {First: 16, Size: 3, Count: 5}}},
		{"all the same", same, nil},
		{"twice", transformer[2:16], nil},
	} {
		if got := report.Blocks(tt.layers); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	if got := report.CommonPath(transformer[2:9]); got != "layer.0" {
		t.Errorf("the first block is called %q", got)
	}
}
