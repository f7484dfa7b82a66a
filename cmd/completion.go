package cmd

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/kernels/cuda/bringup"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/ui"
)

// choices are the values of flags that take one of a few, by name.
func choices(t tables) map[string][]string {
	var names, devices []string
	for _, b := range t.backends {
		names, devices = append(names, b.name), append(devices, b.devices...)
	}
	return map[string][]string{
		"precision": {"fp32", "fp16", "int8"}, "calibrator": t.own.calibrators().Names(),
		"activations": config.Schemes(), "weight-scales": config.WeightScales(), "weight-ranges": quant.WeightRanges(),
		"keep": {"first", "last", "residuals"}, "bias-correction": {"off", "fast", "exact"}, "equalization": {"off", "weights", "activations"},
		"rounding": {"nearest", "gptq", "gptq:ordered", "compensated", "auto"}, "weights": quant.FewBitsKinds(),
		"precision-constraints": {"prefer", "obey", "none"}, "disable": config.RuleNames(),
		"backend": names, "backends": append(slices.Clone(names), outsiders...), "device": devices,
		"format": {"text", "json"}, "theme": ui.ThemeNames(), "screen": screenNames(), "layout": {"nchw", "nhwc"}, "channel-order": {"rgb", "bgr"},
		"resize": {"crop", "stretch", "letterbox"}, "task": {"auto", "classes", "detection", "outputs"}, "type": elementTypes(), "pairs": {"all", "tactic"}, "steps": bringup.Steps(),
	}
}

// lists are the flags that take several of their values, with commas between them.
var lists = []string{"backends", "disable", "keep", "steps"}

// elementTypes are the types that data may be of.
func elementTypes() []string {
	var list []string
	for t := numeric.F32; t <= numeric.Bool; t++ {
		list = append(list, t.String())
	}
	return list
}

// files are the endings of the files that a flag names, without the dot.
var files = map[string][]string{"config": {"json"}, "ranges": {"json"}, "resume": {"jsonl", "json"}}

// setCompletionText says in one line what the command is for that prints completion scripts.
func setCompletionText(root *cobra.Command) {
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.Short = "Print a script that completes commands, flags and their values in a shell"
			c.Example = examples("in this shell", "source <(trtui completion bash)",
				"in every new shell", "trtui completion fish > ~/.config/fish/completions/trtui.fish")
			c.Args = cobra.ArbitraryArgs
			c.RunE = func(c *cobra.Command, args []string) error {
				return usageError{fmt.Errorf("completion is for a shell, and %q is none of %s", strings.Join(args, " "), strings.Join(subcommands(c), ", "))}
			}
		}
	}
}

// completeValues lets a shell complete the values of flags, which are choices, and the models, engines and recordings of all commands.
func completeValues(c *cobra.Command, values map[string][]string, table []backend) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if complete := completer(c, f, values, table); complete != nil {
			_ = c.RegisterFlagCompletionFunc(f.Name, complete) // it has none yet
		}
	})
	if c.ValidArgsFunction == nil {
		c.ValidArgsFunction = argumentCompleter(c)
	}
	for _, sub := range c.Commands() {
		completeValues(sub, values, table)
	}
}

// completer returns what completes a flag's value; nil where any file may be named, or no value is known.
func completer(c *cobra.Command, f *pflag.Flag, values map[string][]string, table []backend) cobra.CompletionFunc {
	switch f.Name {
	case "tactic", "forbid-tactic", "of-tactic":
		return func(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
			return behind(typed, "=", tacticNames(c, table)), cobra.ShellCompDirectiveNoFileComp
		}
	case "recordings", "code-cache":
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
	}
	if ends := files[f.Name]; ends != nil {
		return ending(ends...)
	}
	list := values[f.Name]
	if list == nil {
		return nil
	}
	if f.Name == "backend" && strings.Contains(f.Usage, evaluation+" (") {
		list = values["backends"]
	}
	for _, also := range []string{"junit", "markdown"} {
		if f.Name == "format" && strings.Contains(f.Usage, also) {
			list = append(slices.Clone(list), also)
		}
	}
	separator := ""
	if _, several := f.Value.(*listValue); several || slices.Contains(lists, f.Name) {
		separator = ","
	}
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return behind(typed, separator, list), cobra.ShellCompDirectiveNoFileComp
	}
}

// behind returns what was typed up to the last separator with the names behind it that begin as what was typed goes on.
func behind(typed, separator string, names []string) []string {
	before := ""
	if separator != "" {
		before = typed[:strings.LastIndex(typed, separator)+1]
	}
	var list []string
	for _, name := range names {
		if strings.HasPrefix(before+name, typed) {
			list = append(list, before+name)
		}
	}
	return list
}

// tacticNames are those of the backend that the command line names. A device that has to be found is not opened for them.
func tacticNames(c *cobra.Command, table []backend) []string {
	name := table[0].name
	if f := c.Flags().Lookup("backend"); f != nil {
		name = f.Value.String()
	}
	row, device, err := findBackend(table, "backend", name)
	if err != nil || row.native {
		return nil
	}
	b, err := row.open(device, 1)
	if err != nil {
		return nil
	}
	defer b.Close()
	var names []string
	for _, op := range graph.Ops().All() {
		for _, t := range b.Tactics(op) {
			names = append(names, t.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// ending completes the names of files with one of some endings.
func ending(ends ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return ends, cobra.ShellCompDirectiveFilterFileExt
	}
}

// Endings of the files that commands take.
var (
	modelFiles     = []string{"onnx", "engine"}
	recordingFiles = []string{"trtui"}
	caseFiles      = []string{"onnx", "tar.gz", "tgz"}
)

// argumentCompleter returns what completes a command's arguments, by what its usage calls them.
func argumentCompleter(c *cobra.Command) cobra.CompletionFunc {
	switch {
	case !c.HasParent():
		return beside(modelFiles)
	case strings.Contains(c.Use, "LAYER"):
		return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return modelFiles, cobra.ShellCompDirectiveFilterFileExt
		}
	case strings.Contains(c.Use, "MODEL"):
		return ending(modelFiles...)
	case strings.Contains(c.Use, "PATH"):
		return ending(caseFiles...)
	case strings.Contains(c.Use, "FILE"):
		return ending(recordingFiles...)
	}
	return cobra.NoFileCompletions
}

// beside completes files and folders beside the names of commands, for which a shell cannot be asked.
func beside(ends []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		list, directive := completePath(typed, ends...), cobra.ShellCompDirectiveNoFileComp
		if slices.ContainsFunc(list, func(name string) bool { return os.IsPathSeparator(name[len(name)-1]) }) {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		return list, directive
	}
}
