package match

import (
	"fmt"
	"strings"

	"github.com/trtui/trtui/core/graph"
)

// Expression returns a text that is equal for two layers only if they compute the same from the same tensors.
func Expression(l *graph.Layer) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s %#v %#v %d", l.Op.Name, l.Attrs, l.Epilogue, len(l.Outputs))
	for _, t := range l.Inputs {
		if t == nil {
			s.WriteString(" -")
		} else {
			fmt.Fprintf(&s, " %q", t.Name)
		}
	}
	for _, t := range l.Outputs {
		fmt.Fprintf(&s, " %s %v", t.Type, t.Range)
	}
	return s.String()
}
