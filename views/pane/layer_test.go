package pane

import (
	"testing"

	"github.com/trtui/trtui/ui"
)

// TestFollow: a layer keeps the cursor when its name changes with its precision and rows come before it.
func TestFollow(t *testing.T) {
	rows := []LayerRef{{"Quantize_x", nil}, {"a + relu", []string{"a", "relu"}}, {"b + QuantizeLinear + relu2", []string{"b", "relu2"}}, {"c", []string{"c"}}}
	for _, c := range []struct {
		what string
		was  LayerRef
		want int
	}{
		{"the same name", LayerRef{"c", nil}, 3},
		{"another name", LayerRef{"b + relu2", []string{"b", "relu2"}}, 2},
		{"gone", LayerRef{"Reformat y", nil}, 1},
	} {
		table := ui.Table{Rows: len(rows)}
		table.Select(1)
		ToRow(&table, c.was, len(rows), func(i int) LayerRef { return rows[i] })
		if got := table.Row(); got != c.want {
			t.Errorf("%s: the cursor is on row %d, want %d", c.what, got, c.want)
		}
	}
}
