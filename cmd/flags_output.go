package cmd

import "fmt"

// outputFlags say what a command prints, and how.
type outputFlags struct {
	group
	format  string
	also    string // a format that a command has beside text and json; "": none
	quiet   bool
	verbose bool
}

func (o *outputFlags) define() {
	o.heading = outputHeading
	formats := "text or json"
	if o.also != "" {
		formats = "text, json or " + o.also
	}
	o.part(takeFormat).StringVar(&o.format, "format", "text", formats)
	o.part(takeQuiet).BoolVarP(&o.quiet, "quiet", "q", false, "no progress on standard error")
	o.part(takeLog).BoolVarP(&o.verbose, "verbose", "v", false, "the log of build and run on standard error: what each stage did and how long it took")
}

func (o *outputFlags) check() error {
	switch {
	case o.also == "":
		return checkFormat(o.format)
	case o.format != o.also && checkFormat(o.format) != nil:
		return usageError{fmt.Errorf("--format %q: want text, json or %s", o.format, o.also)}
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
