package cmd

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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
var writtenFiles = []string{"output", "save-outputs", "saveEngine", "exportTimes", "exportProfile", "exportLayerInfo", "exportOutput"}

// checkOutput refuses to write a file whose name is meant as standard output, but for commands that do so.
func checkOutput(c *cobra.Command) error {
	for _, name := range writtenFiles {
		f := c.Flags().Lookup(name)
		if f == nil || f.Value.String() != standardOutput || c.Annotations[toStandardOutput] == name {
			continue
		}
		return usageError{fmt.Errorf("%s does not write to standard output: %s names a file or a folder (./- one that is called so)", words(c), spelt(f))}
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
