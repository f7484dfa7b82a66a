package views

import (
	"testing"

	"github.com/trtui/trtui/ui"
)

// TestFollow: a layer keeps the cursor when its name changes with its precision and rows come before it.
func TestFollow(t *testing.T) {
	type layer struct {
		name string
		from []string
	}
	rows := []layer{{"Quantize_x", nil}, {"a + relu", []string{"a", "relu"}}, {"b + QuantizeLinear + relu2", []string{"b", "relu2"}}, {"c", []string{"c"}}}
	for _, c := range []struct {
		what string
		was  layer
		want int
	}{
		{"the same name", layer{"c", nil}, 3},
		{"another name", layer{"b + relu2", []string{"b", "relu2"}}, 2},
		{"gone", layer{"Reformat y", nil}, 1},
	} {
		table := ui.Table{Rows: len(rows)}
		table.Select(1)
		follow(&table, c.was.name, c.was.from, len(rows), func(i int) (string, []string) { return rows[i].name, rows[i].from })
		if got := table.Row(); got != c.want {
			t.Errorf("%s: the cursor is on row %d, want %d", c.what, got, c.want)
		}
	}
}
