package cmd

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// refuseEmpty returns an error for an argument that is empty, as where a variable of the command line has not been set: the command
// would take the built-in model. What reads its words itself tells of them, or completes a command line, which may have one.
func refuseEmpty(c *cobra.Command, args []string) error {
	if i := slices.Index(args, ""); i >= 0 && !c.DisableFlagParsing {
		return usageError{fmt.Errorf("argument %d is %w", i+1, errEmpty)}
	}
	return nil
}

// errEmpty is the error of a flag's value that is empty.
var errEmpty = errors.New("empty: is the variable set that it comes from?")

// refuseEmptyValues makes it an error that a flag of a command, or of those below it, is given nothing, which would be as if it were not
// given. What has none as a value has a word for it, but for a text ([textValue]), which may have no words.
func refuseEmptyValues(c *cobra.Command) {
	wrap := func(f *pflag.Flag) {
		if _, text := f.Value.(*textValue); text {
			return
		}
		if list, several := f.Value.(pflag.SliceValue); several {
			f.Value = someValues{someValue{f.Value}, list}
			return
		}
		f.Value = someValue{f.Value}
	}
	c.Flags().VisitAll(wrap)
	c.PersistentFlags().VisitAll(wrap)
	for _, sub := range c.Commands() {
		refuseEmptyValues(sub)
	}
}

// textValue is a text, which may be empty.
type textValue string

func (v *textValue) String() string     { return string(*v) }
func (v *textValue) Set(s string) error { *v = textValue(s); return nil }
func (v *textValue) Type() string       { return "string" }

// someValue is a flag's value that is not empty.
type someValue struct{ pflag.Value }

func (v someValue) Set(s string) error {
	if s == "" {
		return errEmpty
	}
	return v.Value.Set(s)
}

// someValues is a list of them.
type someValues struct {
	someValue
	pflag.SliceValue
}
