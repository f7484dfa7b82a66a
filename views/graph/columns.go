package graph

import (
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/words"
)

// columns are the cells that the columns of a list take where there is room for all.
type columns struct {
	types  int       // with the mark of a rule and a space; 0: there is none
	names  int       // of the longest name
	short  *ui.Names // of the layers that are listed, as they differ
	shapes int       // of the longest shape
	ops    int       // of the longest op
}

// The cells of a type and of a time in a list, what a name may be cut to so that time and shape have room, and what a shape may take
// of that: names come before what is more of symbolic shapes.
const (
	leastType = 4
	listTime  = 10
	leastName = 20
	mostShape = 24
)

// columnsOf measures the lines of a side's list of layers.
func columnsOf(side int, lines []graphLine, layers []report.Layer) (c columns) {
	var listed []string
	if side == engineSide {
		c.types = leastType
	}
	for i := range lines {
		line := &lines[i]
		l := &layers[line.layer]
		switch {
		case line.layers > 0:
			c.names = max(c.names, ui.Width(blockText(layers, line)))
		case line.text == "":
			first, others := report.Principal(l.Name) // as words.ShortName has them
			c.names = max(c.names, ui.Width(first)+ui.Width(others)+2*l.Depth)
			c.shapes = max(c.shapes, min(ui.Width(dimsOf(l)), mostShape))
			c.ops = max(c.ops, ui.Width(l.Op))
			if side == engineSide {
				c.types = max(c.types, ui.Width(l.Precision)+1)
			}
			listed = append(listed, words.ShortName(l.Name))
		}
	}
	c.short = ui.NewNames(listed)
	return c
}

// fit says which columns have room beside the name in w cells, that of times where there are any, and how many cells there are for the
// name and the shape; 0: all have. The same holds for all lines, so that columns stay columns.
func (c *columns) fit(w int, timed bool) (name, shape int, time, op bool) {
	if w == 0 {
		return c.names, c.shapes, timed, true
	}
	name = w - c.types
	take := func(n, least int) bool {
		if name-n < least {
			return false
		}
		name -= n
		return true
	}
	time = timed && take(listTime, min(leastName, c.names))
	if n := min(c.shapes, max(mostShape, name-2-c.names)); take(2+n, min(leastName+6, c.names)) {
		shape = n
	}
	op = shape > 0 && take(2+c.ops, c.names)
	return min(name, c.names), shape, time, op
}

// dimsOf returns the shape of a layer's first output.
func dimsOf(l *report.Layer) string {
	if len(l.Outputs) == 0 {
		return ""
	}
	return l.Outputs[0].Dims
}
