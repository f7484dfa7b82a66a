package ui

import (
	"errors"
	"strings"
)

// Options are the user's wishes for the look, from flags and the environment.
type Options struct {
	NoColor bool   // reverse, bold and underline only
	ASCII   bool   // no glyphs beyond ASCII
	Theme   string // the name of one of [Themes], or "" to follow the terminal
	Own     *Theme // one from a file, in its place; see [ReadTheme]
	NoMouse bool   // the mouse is left to the terminal
}

// ErrNoTerminal says that a full-screen program cannot run here.
var ErrNoTerminal = errors.New("no interactive terminal")

// Detect completes o from the environment (os.Getenv): NO_COLOR asks for no
// colours (no-color.org), and a locale that is not UTF-8 for ASCII glyphs. The
// error wraps [ErrNoTerminal] if the terminal cannot show a full-screen program;
// terminal says whether both stdin and stdout are terminals.
func (o Options) Detect(getenv func(string) string, terminal bool) (Options, error) {
	if getenv("NO_COLOR") != "" {
		o.NoColor = true
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		locale := getenv(name)
		if locale == "" {
			continue
		}
		locale = strings.ToLower(locale)
		o.ASCII = o.ASCII || !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8")
		break
	}
	switch term := getenv("TERM"); {
	case !terminal:
		return o, noTerminal("stdin or stdout is not a terminal")
	case term == "dumb":
		return o, noTerminal("TERM=dumb cannot move the cursor")
	case term == "linux" || strings.HasPrefix(term, "vt"):
		o.ASCII = true // their fonts lack the block elements
	}
	return o, nil
}

type terminalError string

func noTerminal(reason string) error { return terminalError(reason) }

func (e terminalError) Error() string {
	return string(e) + ": use the subcommands, which print the same as text or JSON (trtui --help)"
}
func (e terminalError) Unwrap() error { return ErrNoTerminal }
