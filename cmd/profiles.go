package cmd

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// writeProfiles prints the shapes that an engine serves, where these are more than one set.
func writeProfiles(w io.Writer, list []report.Profile) {
	for _, p := range list {
		if len(list) == 1 && len(p.MinShapes) == 0 {
			return
		}
		var inputs []string
		for _, name := range slices.Sorted(maps.Keys(p.Shapes)) {
			text := name + ":" + config.TimesText(p.Shapes[name])
			if len(p.MinShapes) > 0 {
				text += fmt.Sprintf(", from %s to %s", config.TimesText(p.MinShapes[name]), config.TimesText(p.MaxShapes[name]))
			}
			inputs = append(inputs, text)
		}
		fmt.Fprintf(w, "profile %s: %s; arena %s\n", p.Name, strings.Join(inputs, "; "), bytesText(p.ArenaBytes))
	}
}
