package graph

import (
	"slices"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// lanes are the edges of a network as they run beside the lines of its list, from a layer down to those that read it: a line's layer
// has a column, where its output runs on until the last line that reads it.
//
//	●   pool     its output runs on in the first column
//	├●  a/conv
//	│├● b/conv   reads pool as a does: the second column is a's output
//	││● b/act
//	●││ c/conv   the last to read pool takes its column
//	●┴╯ concat
//
// What ends left of others keeps them left: a residual is a straight line beside its branch, and the way down and up a U-Net is seen.
type lanes struct {
	reads [][]int // by line, the lines that it reads
	rows  []laneRow
	width int // columns
}

// laneRow is a line's part of them.
type laneRow struct {
	node  int    // the column of the line's layer, -1 where it has none
	cells []lane // by column; of those behind the last is not known
	more  bool   // there are columns behind
}

// lane is a cell: what runs up and down there is the output of line of, what runs sideways an edge of the line itself.
type lane struct {
	sides uint8
	of    int32
}

// The directions in which a cell has lines.
const (
	laneUp = 1 << iota
	laneDown
	laneLeft
	laneRight
)

// mostLanes is how many columns are known: of wider networks the others are left out.
const mostLanes = 32

// readsOf returns, by line of a list that has all layers, the lines above that it reads, nil of one that is no layer's: one of blocks has
// the edges of its layers to others, and a layer with bodies that are folded those of what is inside.
func readsOf(edges *report.Edges, lines []graphLine, layers int) [][]int {
	reads, line := make([][]int, len(lines)), make([]int, layers)
	for i := range line {
		line[i] = -1
	}
	for i, l := range lines {
		if l.text == "" {
			for k := range max(l.layers, 1) {
				line[l.layer+k] = i
			}
		}
	}
	for i := range line {
		if line[i] < 0 {
			if line[i] = 0; i > 0 {
				line[i] = line[i-1]
			}
		}
		at := line[i]
		if reads[at] == nil {
			reads[at] = []int{}
		}
		for _, from := range edges.Reads[i] {
			if f := line[from]; f < at && !slices.Contains(reads[at], f) {
				reads[at] = append(reads[at], f)
			}
		}
	}
	return reads
}

// lay lays out the edges between lines that readsOf has found.
func lay(reads [][]int) lanes {
	last := make([]int, len(reads)) // the line that reads a line's output last
	for i, from := range reads {
		for _, f := range from {
			last[f] = i
		}
	}
	out := lanes{reads: reads, rows: make([]laneRow, len(reads))}
	var running []int       // by column, the line whose output runs there; -1: none
	column := map[int]int{} // and the other way round
	free := func(from int) int {
		for c := from; c < len(running); c++ {
			if running[c] < 0 {
				return c
			}
		}
		running = append(running, -1)
		return len(running) - 1
	}
	for i, from := range reads {
		row := laneRow{node: -1}
		lo, hi := len(running), -1
		if from != nil {
			for _, f := range from {
				c := column[f]
				lo, hi = min(lo, c), max(hi, c)
				if last[f] == i && (row.node < 0 || c < row.node) {
					row.node = c
				}
			}
			if row.node < 0 {
				row.node = free(hi + 1)
			}
			lo, hi = min(lo, row.node), max(hi, row.node)
		}
		row.cells = make([]lane, min(len(running), mostLanes))
		for c := range row.cells {
			row.cells[c] = cellOf(running[c], c, i, lo, hi, row.node, from, last)
		}
		for _, f := range from {
			if last[f] == i {
				running[column[f]] = -1
				delete(column, f)
			}
		}
		if from != nil && last[i] > i {
			running[row.node], column[i] = i, row.node
		}
		for len(running) > 0 && running[len(running)-1] < 0 {
			running = running[:len(running)-1]
		}
		row.more = max(len(running), row.node+1) > mostLanes
		out.rows[i], out.width = row, max(out.width, len(row.cells))
	}
	return out
}

// cellOf is column c of line i, whose edges run from column lo to hi; of is the line whose output runs in the column.
func cellOf(of, c, i, lo, hi, node int, from, last []int) lane {
	cell := lane{of: int32(of)}
	reads := of >= 0 && slices.Contains(from, of)
	if of >= 0 {
		cell.sides = laneUp | laneDown
		if reads && last[of] == i {
			cell.sides = laneUp
		}
	}
	if c == node || of >= 0 && !reads || c < lo || c > hi { // an edge runs behind what crosses it
		return cell
	}
	if c > lo {
		cell.sides |= laneLeft
	}
	if c < hi {
		cell.sides |= laneRight
	}
	return cell
}

// cells returns how many the columns take where there is room for so many.
func (l *lanes) cells(room int) int {
	columns := min(l.width, room)
	if 2*columns-1 > room {
		return columns
	}
	return max(2*columns-1, 0)
}

// parts are the columns of a line, left and right of its layer's mark, in so many cells: where they have room a cell is between
// any two. Where columns have no room, the last stands for them. light says of a cell how it is seen.
func (l *lanes) parts(i, cells int, g *ui.Glyphs, light func(lane) ui.Style) (before, after []ui.Span) {
	row, columns := &l.rows[i], min(l.width, cells)
	wide := l.cells(cells) > columns
	node := min(row.node, columns-1)
	var spans []ui.Span
	add := func(r rune, style ui.Style) {
		if n := len(spans); n > 0 && spans[n-1].Style == style {
			spans[n-1].Text += string(r)
			return
		}
		spans = append(spans, ui.Span{Text: string(r), Style: style})
	}
	for c := range columns {
		cell := lane{of: -1}
		if c < len(row.cells) {
			cell = row.cells[c]
		}
		if c > 0 && wide {
			joined := cell
			joined.sides = l.between(row, c)
			add(g.Lanes[joined.sides], light(lane{joined.sides, -1}))
		}
		switch beyond := c == columns-1 && (len(row.cells) > columns || row.more); {
		case c == node:
			before, spans = spans, nil
		case beyond:
			add(g.Ellipsis, ui.Faint)
		default:
			add(g.Lanes[cell.sides], light(cell))
		}
	}
	if node < 0 {
		return spans, nil
	}
	return before, spans
}

// between returns what runs sideways between a column and the one left of it.
func (l *lanes) between(row *laneRow, c int) uint8 {
	edge := func(c int) bool { return c < len(row.cells) && row.cells[c].sides&(laneLeft|laneRight) != 0 }
	lo, hi := row.node, row.node
	for c := range row.cells {
		if edge(c) {
			lo, hi = min(lo, c), max(hi, c)
		}
	}
	if row.node >= 0 && lo < c && c <= hi {
		return laneLeft | laneRight
	}
	return 0
}
