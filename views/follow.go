package views

import (
	"slices"

	"github.com/trtui/trtui/ui"
)

// follow puts a table's cursor, after its rows were replaced, on the layer that was under it: the one of that name, or else
// the one that is made of the most of the same source layers, as a layer has another name in another precision. Where there
// is none the cursor stays where it is.
func follow(t *ui.Table, name string, from []string, rows int, layer func(row int) (name string, from []string)) {
	best, most := -1, 0
	for i := range rows {
		n, f := layer(i)
		if n == name {
			best = i
			break
		}
		shared := 0
		for _, source := range f {
			if slices.Contains(from, source) {
				shared++
			}
		}
		if shared > most {
			best, most = i, shared
		}
	}
	if best >= 0 {
		t.Select(best)
	}
}
