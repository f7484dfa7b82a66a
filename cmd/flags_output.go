package cmd

import (
	"fmt"
	"slices"
	"strings"
)

// outputFlags say what a command prints, and how.
type outputFlags struct {
	group
	format  string
	also    []string // formats that a command has beside text and json
	quiet   bool
	verbose bool
}

func (o *outputFlags) define() {
	o.heading = outputHeading
	o.part(takeFormat).StringVar(&o.format, "format", "text", o.formats())
	o.part(takeQuiet).BoolVarP(&o.quiet, "quiet", "q", false, "no progress on standard error")
	o.part(takeLog).BoolVarP(&o.verbose, "verbose", "v", false, "the log of build and run on standard error: what each stage did and how long it took")
}

// formats names those of the command, as in "text, json or markdown".
func (o *outputFlags) formats() string {
	all := append([]string{"text", "json"}, o.also...)
	return strings.Join(all[:len(all)-1], ", ") + " or " + all[len(all)-1]
}

func (o *outputFlags) check() error {
	if !slices.Contains(o.also, o.format) && checkFormat(o.format) != nil {
		return usageError{fmt.Errorf("--format %q: want %s", o.format, o.formats())}
	}
	return nil
}

func checkFormat(format string) error {
	if format != "text" && format != "json" {
		return usageError{fmt.Errorf("--format %q: want text or json", format)}
	}
	return nil
}

// json reports whether the output is for scripts.
func (o *outputFlags) json() bool { return o.format == "json" }

// csv reports whether the output is a table for spreadsheets.
func (o *outputFlags) csv() bool { return o.format == "csv" }
