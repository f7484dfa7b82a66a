package cmd

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trtui/trtui/internal/host"
)

// standardOutput is the name of a file that stands for standard output, as in other programs.
const standardOutput = "-"

// toStandardOutput annotates commands that write their file to standard output where that is asked for.
const toStandardOutput = "standard output"

func takesStandardOutput(c *cobra.Command) {
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[toStandardOutput] = "output"
}

// writtenFiles are the flags that name a file to write.
var writtenFiles = []string{"output", "save-outputs", "saveEngine", "exportTimes", "exportProfile", "exportLayerInfo", "exportOutput", "save-inputs", "calibration-cache"}

// checkOutput refuses to write a file whose name is meant as standard output, but for commands that do so, a pipe, which would wait, and a recording.
func checkOutput(c *cobra.Command) error {
	for _, name := range writtenFiles {
		f := c.Flags().Lookup(name)
		if f != nil {
			if err := host.Writable(f.Value.String()); err != nil {
				return err
			}
		}
		if f == nil || f.Value.String() != standardOutput || c.Annotations[toStandardOutput] == name {
			continue
		}
		return usageError{fmt.Errorf("%s does not write to standard output: %s names a file or a folder (./- one that is called so)", words(c), spelt(f))}
	}
	return nil
}

// inPlace annotates commands that may write over the file that they read.
const inPlace = "in place"

// readFiles are the flags that name a file to read.
var readFiles = []string{"data", "calib-data", "labels", "config", "ranges", "rules", "plugin", "tokenizer", "weights", "baseline", "budget", "theme", "keys", "resume"}

// spareInputs refuses to write over what is read, as an argument or by a flag; what else is there is written over, as what was named.
func spareInputs(c *cobra.Command, inputs []string) error {
	if c.Annotations[inPlace] != "" {
		return nil
	}
	inputs = append(slices.Clone(inputs), filesRead(c.Flags())...)
	for _, name := range writtenFiles {
		if f := c.Flags().Lookup(name); f != nil {
			if err := spare(spelt(f), f.Value.String(), inputs); err != nil {
				return err
			}
		}
	}
	return nil
}

// filesRead are the files that flags name to be read.
func filesRead(flags *pflag.FlagSet) (list []string) {
	for _, name := range readFiles {
		f := flags.Lookup(name)
		switch {
		case f == nil || !f.Changed:
		default:
			if several, ok := f.Value.(pflag.SliceValue); ok {
				list = append(list, several.GetSlice()...)
				continue
			}
			list = append(list, f.Value.String())
		}
	}
	return list
}

// spare refuses that a flag names a file to write that is read.
func spare(flag, path string, inputs []string) error {
	for _, input := range inputs {
		if path != "" && input != "" && sameFile(parseOperand(input).path, path) {
			return usageError{fmt.Errorf("%s %s: that is the file that is read, which would be lost: name another one", flag, path)}
		}
	}
	return nil
}

// spelt is a flag as one types it.
func spelt(f *pflag.Flag) string {
	if f.Shorthand != "" {
		return "-" + f.Shorthand
	}
	return "--" + f.Name
}
