package cmd

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"github.com/trtui/trtui/ui"
)

// textOutput is where a command writes text: one write at a time, with ASCII in place of glyphs where the terminal or the
// locale has no others. [ui.Options.Detect] decides that for the screens, too. What is in the text that a terminal would act
// on comes from a user's file, and is spelled out.
type textOutput struct {
	mu     sync.Mutex
	w      io.Writer
	glyphs *strings.Replacer // nil: as they are
	line   int               // cells of the line that showLine left
	err    error             // why the first write that failed did
}

func (t *textOutput) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wipe()
	text := ui.Visible(string(b))
	if t.glyphs != nil {
		text = t.glyphs.Replace(text)
	}
	if _, err := io.WriteString(t.w, text); err != nil {
		t.err = cmp.Or(t.err, err)
		return 0, err
	}
	return len(b), nil
}

// failed returns why something could not be written to an output.
func failed(w io.Writer) error {
	if t, ok := w.(*textOutput); ok {
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.err
	}
	return nil
}

// showLine shows a text on the terminal's line, of so many cells, until anything else is written.
func (t *textOutput) showLine(s string, cells int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s = ui.VisibleName(s)
	if t.glyphs != nil {
		s = t.glyphs.Replace(s)
	}
	fmt.Fprintf(t.w, "\r%s%s\r", s, strings.Repeat(" ", max(0, cells-ui.Width(s))))
	t.line = cells
}

// endLine leaves the terminal's line empty.
func (t *textOutput) endLine() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wipe()
}

func (t *textOutput) wipe() {
	if t.line > 0 {
		fmt.Fprintf(t.w, "\r%s\r", strings.Repeat(" ", t.line))
		t.line = 0
	}
}

// underlying returns what is behind a textOutput: JSON is written there, whose text is data.
func underlying(w io.Writer) io.Writer {
	if t, ok := w.(*textOutput); ok {
		return t.w
	}
	return w
}

// writeStyled writes text with styles, which are left out where w is no terminal that has them.
func writeStyled(w io.Writer, text string) error {
	if t, ok := w.(*textOutput); ok && t.glyphs != nil {
		text = t.glyphs.Replace(text)
	}
	_, err := lipgloss.Fprintln(underlying(w), text)
	return err
}

// openOutputs makes a command line write through textOutputs.
func openOutputs(root *cobra.Command, stdout, stderr io.Writer) {
	out, errs := &textOutput{w: stdout}, &textOutput{w: stderr}
	root.SetOut(out)
	root.SetErr(errs)
	before := root.PersistentPreRunE
	root.PersistentPreRunE = func(c *cobra.Command, args []string) error {
		look, _ := ui.Options{ASCII: asked(c, "ascii")}.Detect(os.Getenv, isTerminal(stdout)) // whether a screen could be shown is another question
		if look.ASCII {
			out.glyphs, errs.glyphs = ui.ASCIIText(), ui.ASCIIText()
		}
		return before(c, args)
	}
}

// asked returns a switch that a command or one of those above it has.
func asked(c *cobra.Command, name string) bool {
	f := c.Flag(name)
	return f != nil && f.Value.String() == "true"
}

func isTerminal(w io.Writer) bool {
	f, ok := underlying(w).(*os.File)
	return ok && term.IsTerminal(f.Fd())
}

// terminalWidth returns the width of the terminal that w is, or 0 if it is none: what is piped is never cut.
func terminalWidth(w io.Writer) int {
	if !isTerminal(w) {
		return 0
	}
	width, _, err := term.GetSize(underlying(w).(*os.File).Fd())
	if err != nil || width < 20 {
		return 80
	}
	return width
}

// writeNote writes a sentence or more, broken between words where w is a terminal that is narrower.
func writeNote(w io.Writer, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	width := terminalWidth(w)
	for line := range strings.SplitSeq(text, "\n") {
		if width == 0 || ui.Width(line) <= width {
			fmt.Fprintln(w, line)
			continue
		}
		for _, part := range ui.Wrap(line, width) {
			fmt.Fprintln(w, part)
		}
	}
}

// warner returns a function that writes warnings, each text once.
func warner(w io.Writer) func(string) {
	warned := map[string]bool{} // of several configurations, each has its warnings
	return func(text string) {
		if !warned[text] {
			warned[text] = true
			writeNote(w, "warning: %s", ui.VisibleName(text))
		}
	}
}
