package torture

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
)

// Report writes what was done, hunt by hunt, and where the findings are.
func (s *State) Report(w io.Writer) {
	for _, name := range slices.Sorted(maps.Keys(s.Hunts)) {
		p := s.Hunts[name]
		fmt.Fprintf(w, "%-9s %7d tries in %v", name, p.Tried, p.Spent.Round(time.Second))
		for _, what := range slices.Sorted(maps.Keys(p.Count)) {
			fmt.Fprintf(w, ", %s %d", what, p.Count[what])
		}
		fmt.Fprintln(w)
		for _, folder := range slices.Sorted(maps.Keys(p.Found)) {
			fmt.Fprintf(w, "  %5d x %s\n", p.Found[folder], folder)
		}
	}
}
