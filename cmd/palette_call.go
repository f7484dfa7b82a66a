package cmd

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// callOf returns how a command is called on what the workbench shows, without its name: the file, what must be given besides as the
// usage has it, and the flags that both the workbench was started with and the command knows, as the configuration at hand is.
func callOf(c, workbench *cobra.Command) func(file string, s *report.Snapshot) string {
	return func(file string, s *report.Snapshot) string {
		words := usageWords(c.Use, file)
		if s.Replay == "" && file != "" {
			words = append(words, givenFlags(c, workbench)...)
			if s.Model == nil || s.Model.Kind != "engine" {
				words = append(words, configWords(c, s.Config)...)
			}
		}
		return strings.Join(words, " ")
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

// byConfiguration are the flags that say what configurations say, which change in the workbench.
var byConfiguration = []string{"precision", "calibrator", "batch", "weights", "layer-precisions", "disable", "tactic", "forbid-tactic"}

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

// configWords returns the flags by which a command has a configuration, as far as it knows them.
func configWords(c *cobra.Command, cfg config.Config) (words []string) {
	add := func(name, value string) {
		if c.Flags().Lookup(name) != nil && value != "" {
			words = append(words, "--"+name, shellWord(value))
		}
	}
	if c.Flags().Lookup("precision") == nil && c.Flags().Lookup(string(cfg.Precision)) != nil { // as trtexec has it
		words = append(words, "--"+string(cfg.Precision))
	}
	add("precision", string(cfg.Precision))
	if cfg.Precision == config.INT8 {
		add("calibrator", cfg.Calibrator)
	}
	if cfg.Batch > 1 {
		add("batch", fmt.Sprint(cfg.Batch))
	}
	add("weights", cfg.Weights)
	add("layer-precisions", strings.Join(cfg.LayerPrecisions, ","))
	for _, rule := range cfg.Disable {
		add("disable", rule)
	}
	for _, layer := range slices.Sorted(maps.Keys(cfg.Pin)) {
		add("tactic", layer+"="+cfg.Pin[layer])
	}
	for _, layer := range slices.Sorted(maps.Keys(cfg.Forbid)) {
		for _, tactic := range cfg.Forbid[layer] {
			add("forbid-tactic", strings.TrimPrefix(layer+"="+tactic, "="))
		}
	}
	return words
}
