package graph

import (
	"strings"
	"testing"

	"github.com/trtui/trtui/ui"
)

// TestLanes draws the edges of networks as people know them: each line of reads is a layer, with those above that it reads.
func TestLanes(t *testing.T) {
	for _, c := range []struct {
		name  string
		reads [][]int
		cells int
		want  string
	}{
		{"chain", [][]int{{}, {0}, {1}}, 8, "● ● ●"},
		{"residual", [][]int{{}, {0}, {1}, {2, 0}, {3}}, 3, "● ├─● │_● ●─╯ ●"},
		{"inception", [][]int{{}, {0}, {0}, {2}, {0}, {1, 3, 4}}, 3, "● ├● ├│● ││● ●││ ●┴╯"},
		{"u-net", [][]int{{}, {0}, {1}, {2, 1}, {3, 0}}, 5, "● ├─● │_├─● │_●─╯ ●─╯"},
		{"beside unread", [][]int{{}, {}, {0, 1}, {}}, 3, "● │_● ●─╯ ●"},
		{"below its layer", [][]int{{}, nil, {0}, nil, {2, 0}}, 3, "● │ ├─● │_│ ●─╯"},
		{"no room", [][]int{{}, {0}, {0}, {0}, {0, 1, 2, 3}}, 3, "● ├● ├│● ├│● ●┴…"},
		{"nothing", [][]int{}, 3, ""},
	} {
		l := lay(c.reads)
		var rows []string
		for i, reads := range c.reads {
			before, after := l.parts(i, c.cells, ui.UnicodeGlyphs(), func(lane) ui.Style { return ui.Plain })
			text := ""
			for _, s := range before {
				text += s.Text
			}
			if reads != nil {
				text += "●"
			}
			for _, s := range after {
				text += s.Text
			}
			rows = append(rows, strings.ReplaceAll(strings.TrimRight(text, " "), " ", "_"))
		}
		if got := strings.Join(rows, " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestManyLanes: a network whose layers are all read at its end takes no more memory than its edges.
func TestManyLanes(t *testing.T) {
	const n = 5000
	reads := make([][]int, n+1)
	for i := range n {
		reads[i] = []int{}
		reads[n] = append(reads[n], i)
	}
	l := lay(reads)
	if l.width != mostLanes || !l.rows[n-1].more {
		t.Errorf("%d columns, more: %v", l.width, l.rows[n-1].more)
	}
	l.parts(n, 4, ui.UnicodeGlyphs(), func(lane) ui.Style { return ui.Plain })
}
