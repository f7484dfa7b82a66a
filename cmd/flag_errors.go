package cmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trtui/trtui/sessions/config"
)

// unknownFlag adds to the error of an unknown flag which command has it, or those of this command that are spelt alike. A value
// that a flag does not take is said to be none, with what it takes.
func unknownFlag(cmd *cobra.Command, err error) error {
	if invalid := new(pflag.InvalidValueError); errors.As(err, &invalid) {
		if want := map[string]string{
			"int": "a whole number", "uint64": "a whole number from 0", "float64": "a number", "duration": "a time such as 500ms or 2s", "bool": "true or false",
			"intSlice": "whole numbers with commas between them", "float32Slice": "numbers with commas between them", "float64Slice": "numbers with commas between them",
		}[invalid.GetFlag().Value.Type()]; want != "" {
			return fmt.Errorf("--%s %q: want %s", invalid.GetFlag().Name, invalid.GetValue(), want)
		}
		if errors.Is(err, errEmpty) {
			return fmt.Errorf("--%s is %w", invalid.GetFlag().Name, errEmpty)
		}
		return err
	}
	unknown := new(pflag.NotExistError)
	if !errors.As(err, &unknown) || len(unknown.GetSpecifiedName()) < 2 {
		return err
	}
	name := unknown.GetSpecifiedName()
	if others := having(cmd.Root(), name); len(others) > 0 {
		verb := "has"
		if len(others) > 1 {
			verb = "have"
		}
		return fmt.Errorf("%s has no --%s; %s %s", words(cmd), name, listed(others), verb)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	return fmt.Errorf("%w%s", err, config.DidYouMean("--"+name, names))
}

// having returns the commands that have a flag, the workbench first.
func having(c *cobra.Command, name string) []string {
	var list []string
	if f := c.Flags().Lookup(name); f != nil && !f.Hidden {
		list = append(list, words(c))
	}
	for _, sub := range c.Commands() {
		list = append(list, having(sub, name)...)
	}
	return list
}

// words is a command's name below the program's; the program alone is the workbench.
func words(c *cobra.Command) string {
	if !c.HasParent() {
		return "the workbench"
	}
	return strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" ")
}

// listed joins names as in a sentence, of many the first few.
func listed(names []string) string {
	const most = 4
	if n := len(names); n > most {
		names = append(slices.Clone(names[:most-1]), fmt.Sprintf("%d other commands", n-most+1))
	}
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return names[0]
}
