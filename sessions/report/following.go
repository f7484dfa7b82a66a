package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Following is what an extent is that follows others, as that of a mask over past and new tokens.
type Following struct {
	Terms map[string]int `entry:"axis,factor"` // 1 or -1, by the symbol of another axis
	Plus  int
}

// String is the sum, as in "past + seq + 1".
func (f *Following) String() string {
	text := ""
	for _, name := range slices.Sorted(maps.Keys(f.Terms)) {
		switch {
		case f.Terms[name] < 0:
			text += " - " + name
		case text != "":
			text += " + " + name
		default:
			text = name
		}
	}
	switch {
	case f.Plus > 0:
		text += fmt.Sprintf(" + %d", f.Plus)
	case f.Plus < 0:
		text += fmt.Sprintf(" - %d", -f.Plus)
	}
	return strings.TrimSpace(text)
}
