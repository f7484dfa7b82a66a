package cmd

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/views/pane"
)

// callOf returns how a command is called on what the workbench shows, without its name: the file, what must be given besides as the
// usage has it, the flags that the workbench was started with and the command knows, and those that say the configuration at hand;
// lost is what of it no flag says. start is what the command has without the latter.
func callOf(c, workbench *cobra.Command, start unflagged) func(file string, s *report.Snapshot) (call string, lost []string) {
	return func(file string, s *report.Snapshot) (string, []string) {
		words := usageWords(c.Use, file)
		if s.Replay != "" || s.Model == nil || s.Model.Viewed != "" {
			return strings.Join(words, " "), nil
		}
		words = append(words, givenFlags(c, workbench)...)
		if s.Model.Requantized && c.Flags().Lookup("requantize") != nil {
			words = append(words, "--requantize")
		}
		w := start.configWords(c, s.Config, pane.OwnRanges(s))
		return strings.Join(append(words, w.words...), " "), w.lost
	}
}

var usageWord = regexp.MustCompile(`\[[^\]]*\]|\S+`)

// usageWords returns what stands in a usage behind the name, with a file in the place of the first argument that is one. What
// may be left out is.
func usageWords(usage, file string) []string {
	var words []string
	placed := false
	for i, w := range usageWord.FindAllString(usage, -1) {
		name, optional := strings.CutPrefix(w, "[")
		flag, named := strings.CutSuffix(name, "=MODEL")
		ofFlag := len(words) > 0 && strings.HasPrefix(words[len(words)-1], "-")
		isFile := strings.Contains(name, "MODEL") || strings.Contains(name, "RECORDING") || strings.Contains(name, "ENGINE") || strings.HasPrefix(name, "FILE") || name == "A"
		switch {
		case i == 0:
		case named && file != "":
			words = append(words, flag+"="+shellWord(file))
			placed = true
		case isFile && !ofFlag && !placed && (file != "" || optional):
			if placed = true; file != "" {
				words = append(words, shellWord(file))
			}
		case !optional:
			words = append(words, w)
		}
	}
	return words
}

// byConfiguration are the flags that say what configurations say, which change in the workbench, and what a workbench shows of a model.
var byConfiguration = []string{
	"precision", "layer-precisions", "precision-constraints", "weights", "calibrator", "activations", "weight-scales", "weight-ranges", "keep", "range",
	"equalization", "rounding", "bias-correction", "batch", "shapes", "minShapes", "optShapes", "maxShapes", "profile", "config", "state", "rules",
	"disable", "passes-until", "tactic", "forbid-tactic", "requantize",
}

// givenFlags returns the flags that the workbench was started with and a command knows.
func givenFlags(c, workbench *cobra.Command) (words []string) {
	workbench.Flags().Visit(func(f *pflag.Flag) {
		own := c.Flags().Lookup(f.Name)
		if own == nil || own.Value.Type() != f.Value.Type() || slices.Contains(byConfiguration, f.Name) {
			return
		}
		name := "--" + f.Name
		switch list, several := f.Value.(pflag.SliceValue); {
		case several:
			for _, v := range list.GetSlice() {
				words = append(words, name, shellWord(v))
			}
		case f.Value.Type() == "bool" && f.Value.String() == "true":
			words = append(words, name)
		case f.Value.Type() == "bool":
			words = append(words, name+"=false")
		default:
			words = append(words, name, shellWord(f.Value.String()))
		}
	})
	return words
}
