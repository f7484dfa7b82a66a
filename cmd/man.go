package cmd

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manCommand prints the manual page, which make man writes to a file.
func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "man",
		Short:  "Print the manual page, trtui(1)",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(c *cobra.Command, _ []string) error {
			writeManual(c.OutOrStdout(), c.Root())
			return nil
		},
	}
}

// manual writes a page in the man macros.
type manual struct{ w io.Writer }

// line writes a macro with its arguments, each one word of the page.
func (m manual) line(macro string, args ...string) {
	fmt.Fprint(m.w, "."+macro)
	for _, a := range args {
		fmt.Fprintf(m.w, " \"%s\"", strings.ReplaceAll(escaped(a), `"`, `\(dq`))
	}
	fmt.Fprintln(m.w)
}

// text writes a text that no line of is taken for a macro.
func (m manual) text(s string) {
	for line := range strings.SplitSeq(strings.TrimRight(s, "\n"), "\n") {
		fmt.Fprintln(m.w, protected(escaped(line)))
	}
}

// escaped writes what the formatter would change as it is.
func escaped(s string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "~", `\(ti`, "^", `\(ha`, "`", `\(ga`, "'", `\(aq`).Replace(s)
}

func protected(line string) string {
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, `\(aq`) {
		return `\&` + line
	}
	return line
}

// writeManual writes the page of a program: its commands, and after them the flags that they share.
func writeManual(w io.Writer, root *cobra.Command) {
	m := manual{w}
	m.line("TH", strings.ToUpper(root.Name()), "1", "", root.Name(), "User Commands")
	m.line("SH", "NAME")
	m.text(root.Name() + " - " + strings.ToLower(root.Short[:1]) + root.Short[1:])
	m.line("SH", "SYNOPSIS")
	m.line("B", root.UseLine())
	m.line("br")
	m.line("B", root.Name()+" COMMAND [flags]")
	m.line("SH", "DESCRIPTION")
	m.description(root)
	m.line("SH", "COMMANDS")
	for _, c := range root.Commands() {
		m.command(c)
	}
	for _, h := range headings(root) {
		m.line("SH", strings.ToUpper(h.title)+" FLAGS")
		if slices.Contains(sharedHeadings, h.title) {
			m.text("Each command takes those that mean something to it, which its --help lists.")
		}
		m.flags(h)
	}
	m.line("SH", "EXIT STATUS")
	m.verbatim(strings.Join(strings.Split(strings.TrimSpace(exitHelp), "\n")[1:], "\n"))
	m.line("SH", "ENVIRONMENT")
	for _, v := range environment {
		m.line("TP")
		m.line("B", v.name)
		m.text(v.text)
	}
	m.line("SH", "EXAMPLES")
	m.verbatim(root.Example)
}

// environment are the variables that the program reads.
var environment = []struct{ name, text string }{
	{"NO_COLOR", "No colours, on the terminal and in pictures, but for those of --theme."},
	{cpuFeatures, "Use no more of the processor than this: avx512+vnni+amx, avx512+vnni, avx512, avx2+avxvnni, avx2 or generic."},
	{"TRTUI_LIBCUDA", "The CUDA driver library, where it is not found by its name."},
	{"TRTUI_PTXAS", "NVIDIA's assembler, which trtui inspect kernel asks about kernels for a simulated GPU."},
	{"XDG_CACHE_HOME", "Where the timing cache and compiled code are kept, in trtui."},
}

// sharedHeadings are those under which several commands have flags.
var sharedHeadings = []string{dataHeading, configHeading, deviceHeading, outputHeading}

func (m manual) description(c *cobra.Command) {
	for i, p := range paragraphs(c) {
		if i > 0 {
			m.line("PP")
		}
		if strings.HasPrefix(p, "\t") {
			m.verbatim("  " + strings.ReplaceAll(p[1:], "\n\t", "\n  "))
			continue
		}
		m.text(p)
	}
}

// command writes what a command does and the flags that are its own, and then its subcommands.
func (m manual) command(c *cobra.Command) {
	if !c.IsAvailableCommand() || c.Name() == "help" {
		return
	}
	m.line("SS", strings.TrimSuffix(c.UseLine(), " [flags]"))
	m.description(c)
	for _, h := range headings(c) {
		h.flags = slices.DeleteFunc(h.flags, func(f *pflag.Flag) bool {
			return f.Name == "help" || c.Root().Flag(f.Name) != nil && (h.title == screenHeading || slices.Contains(sharedHeadings, h.title))
		})
		m.flags(h)
	}
	if c.Example != "" {
		m.line("PP")
		m.verbatim(c.Example)
	}
	if c.Name() == "completion" { // its subcommands are the shells
		return
	}
	for _, sub := range c.Commands() {
		m.command(sub)
	}
}

func (m manual) flags(h heading) {
	for _, f := range h.flags {
		m.line("TP")
		m.line("B", strings.TrimSpace(flagTitle(f)))
		m.text(flagText(f))
	}
}

// verbatim writes lines as they are.
func (m manual) verbatim(text string) {
	m.line("nf")
	m.text(text)
	m.line("fi")
}
