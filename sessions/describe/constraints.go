package describe

import (
	"fmt"
	"strings"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// Unmet returns the layer precisions of a configuration that lowering did not give.
func Unmet(cfg config.Config, o *build.Optimized, l *build.Lowered) []report.UnmetPrecision {
	rules, err := cfg.Rules()
	if err != nil || cfg.Constraints == config.Ignore {
		return nil // lowering has told
	}
	var list []report.UnmetPrecision
	for _, u := range build.UnmetRules(o, l, rules) {
		list = append(list, report.UnmetPrecision{Layer: u.Layer, Rule: u.Rule.String(), Precision: u.Got.String(), Reason: u.Reason})
	}
	return list
}

// mostUnmet is how many layers are named one by one; the report of passes has them all.
const mostUnmet = 20

// WarnUnmet tells of layer precisions that are not met, a text for each layer.
func WarnUnmet(list []report.UnmetPrecision, warn func(layer, text string)) {
	for i, u := range list {
		if i == mostUnmet {
			warn("", fmt.Sprintf("and %d more layers whose precision is not met, which the report of the passes lists", len(list)-i))
			return
		}
		warn(u.Layer, u.String())
	}
}

// Obeyed returns an error that names the layers whose precision is not met.
func Obeyed(list []report.UnmetPrecision) error {
	if len(list) == 0 {
		return nil
	}
	var texts []string
	WarnUnmet(list, func(_, text string) { texts = append(texts, text) })
	return fmt.Errorf("%s; set another precision there, or precision constraints to prefer", strings.Join(texts, "; "))
}

// Ignored tells of layer precisions that count for nothing; "" where none do.
func Ignored(cfg config.Config) string {
	if cfg.Constraints != config.Ignore || len(cfg.LayerPrecisions) == 0 {
		return ""
	}
	return "precision constraints are none: the layer precisions " + strings.Join(cfg.LayerPrecisions, ", ") + " are ignored"
}
