package cmd

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trtui/trtui/ui"
)

// Widths of a help text: where standard output is no terminal, and the largest that is still read with ease; and the column
// in which the descriptions of flags begin.
const (
	helpWidth  = 80
	mostHelp   = 110
	flagColumn = 28
)

// exitHelp is the end of every command's help.
const exitHelp = `Exit codes:
  0  success
  1  checks failed: outputs differ, a case failed, a layer has no kernel
  2  error, or ended by a signal
`

// examples writes a command's examples: pairs of what one is for and the command line.
func examples(pairs ...string) string {
	var b strings.Builder
	for pair := range slices.Chunk(pairs, 2) {
		fmt.Fprintf(&b, "  # %s\n  %s\n", pair[0], pair[1])
	}
	return b.String()
}

// showHelp writes a command's help, as wide as the terminal.
func showHelp(c *cobra.Command, _ []string) {
	w := c.OutOrStdout()
	width := terminalWidth(w)
	if width == 0 {
		width = helpWidth
	}
	writeHelp(w, c, min(width, mostHelp))
}

func writeHelp(w io.Writer, c *cobra.Command, width int) {
	for i, text := range paragraphs(c) {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if strings.HasPrefix(text, "\t") { // as it is
			for line := range strings.SplitSeq(text, "\n") {
				fmt.Fprintf(w, "  %s\n", strings.TrimPrefix(line, "\t"))
			}
			continue
		}
		for _, line := range ui.Wrap(text, width) {
			fmt.Fprintln(w, line)
		}
	}
	fmt.Fprintf(w, "\nUsage:\n")
	if c.Runnable() {
		fmt.Fprintf(w, "  %s\n", c.UseLine())
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(w, "  %s COMMAND ...\n\nCommands:\n", c.CommandPath())
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				writeEntry(w, "  "+sub.Name(), sub.Short, 16, width)
			}
		}
	}
	if c.Example != "" {
		fmt.Fprintf(w, "\nExamples:\n%s", c.Example)
	}
	for _, h := range headings(c) {
		fmt.Fprintf(w, "\n%s:\n", h.title)
		for _, f := range h.flags {
			writeEntry(w, flagTitle(f), flagText(f), flagColumn, width)
		}
	}
	fmt.Fprintf(w, "\n%s", exitHelp)
}

// paragraphs are those of a command's description, each on one line, but for what is indented, as commands are.
func paragraphs(c *cobra.Command) []string {
	if c.Long == "" {
		return []string{c.Short + "."}
	}
	var list []string
	for p := range strings.SplitSeq(strings.TrimSpace(c.Long), "\n\n") {
		if !strings.HasPrefix(p, "\t") {
			p = strings.Join(strings.Fields(p), " ")
		}
		list = append(list, p)
	}
	return list
}

// writeEntry writes a title and, from a column on, what it stands for; under the title where that is too long.
func writeEntry(w io.Writer, title, text string, column, width int) {
	lines := ui.Wrap(text, width-column)
	if ui.Width(title)+2 > column {
		fmt.Fprintln(w, title)
		title = ""
	}
	for _, line := range lines {
		fmt.Fprintf(w, "%-*s%s\n", column, title, line)
		title = ""
	}
}

// heading is flags under one title of the help.
type heading struct {
	title string
	flags []*pflag.Flag
}

// headings returns the flags of a command as its help groups them: those of its own first.
func headings(c *cobra.Command) []heading {
	c.InitDefaultHelpFlag()
	c.Flags().Lookup("help").Usage = "show this help"
	order := []string{dataHeading, configHeading, deviceHeading, screenHeading, outputHeading}
	of := map[string][]*pflag.Flag{}
	var own []string
	add := func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		title := outputHeading
		if list := f.Annotations[headingKey]; len(list) > 0 {
			title = list[0]
		}
		if !slices.Contains(order, title) && !slices.Contains(own, title) {
			own = append(own, title)
		}
		of[title] = append(of[title], f)
	}
	c.LocalFlags().VisitAll(add)
	c.InheritedFlags().VisitAll(add)
	var list []heading
	for _, title := range append(own, order...) {
		if len(of[title]) > 0 {
			list = append(list, heading{title, of[title]})
		}
	}
	return list
}

// placeholders are what stands for a flag's value where its description names nothing, by the value's type.
var placeholders = map[string]string{
	"int": "N", "uint64": "N", "float32": "X", "float64": "X", "duration": "TIME", "intSlice": "N,...", "float32Slice": "X,...",
	"strings": "NAME,...", "stringSlice": "NAME,...", "string": "NAME",
}

// flagTitle writes a flag with what stands for its value.
func flagTitle(f *pflag.Flag) string {
	title := "      --" + f.Name
	if f.Shorthand != "" {
		title = "  -" + f.Shorthand + ", --" + f.Name
	}
	name, _ := pflag.UnquoteUsage(f)
	if !strings.Contains(f.Usage, "`") {
		name = placeholders[f.Value.Type()]
	}
	if name != "" && f.Value.Type() != "bool" {
		title += " " + name
	}
	return title
}

// flagText is a flag's description with its default.
func flagText(f *pflag.Flag) string {
	_, text := pflag.UnquoteUsage(f)
	switch f.DefValue {
	case "", "false", "0", "0s", "[]":
		return text
	}
	return text + " (default: " + f.DefValue + ")"
}
