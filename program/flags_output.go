package program

import "fmt"

// outputFlags say what a command prints, and how.
type outputFlags struct {
	group
	format  string
	quiet   bool
	verbose bool
}

func (o *outputFlags) define() {
	o.heading = outputHeading
	o.part(takeFormat).StringVar(&o.format, "format", "text", "text or json")
	o.part(takeQuiet).BoolVarP(&o.quiet, "quiet", "q", false, "no progress on standard error")
	o.part(takeLog).BoolVarP(&o.verbose, "verbose", "v", false, "the log of build and run on standard error: what each stage did and how long it took")
}

func (o *outputFlags) check() error { return checkFormat(o.format) }

func checkFormat(format string) error {
	if format != "text" && format != "json" {
		return usageError{fmt.Errorf("--format %q: want text or json", format)}
	}
	return nil
}

// json reports whether the output is for scripts.
func (o *outputFlags) json() bool { return o.format == "json" }
