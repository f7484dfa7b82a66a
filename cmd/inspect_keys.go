package cmd

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// inspectKeysCommand lists the keys of the workbench, and writes the file that changes them.
func inspectKeysCommand() *cobra.Command {
	var o outputFlags
	var file string
	var template bool
	o.define()
	c := &cobra.Command{
		Use:   "keys",
		Short: "List the keys of the workbench by screen, as they are now, or write the file that changes them",
		Long: "List the keys of the workbench by screen, as they are now: a file of keys (--keys, or trtui/keys.yaml in the folder of\n" +
			"configurations) gives actions others. It has the names of actions, by context, with their keys; what it leaves out\n" +
			"stays as it is. A key that means two things, one that text entry needs, and a name that there is not are errors\n" +
			"with their line.",
		Example: examples("every key", "trtui inspect keys",
			"a file to change, in the usual place", "trtui inspect keys --template > ~/.config/trtui/keys.yaml"),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			if template && o.json() {
				return usageError{errors.New("--template writes YAML: leave out --format json")}
			}
			keys, err := readKeys(file)
			if err != nil {
				return err
			}
			contexts, err := keyContexts(keys)
			if err != nil {
				return err
			}
			return inspectKeys(c.OutOrStdout(), &o, contexts, template)
		},
	}
	c.Flags().StringVar(&file, "keys", "", "`FILE` of keys; the default is trtui/keys.yaml in the folder of configurations, if it is there")
	c.Flags().BoolVar(&template, "template", false, "write a file of keys with all that there are, to be changed")
	under(c, screenHeading, "keys", "template")
	o.addTo(c, takeFormat)
	return c
}

// keysOutput is the JSON of trtui inspect keys.
type keysOutput struct{ Contexts []keyContextOutput }

type keyContextOutput struct {
	Name    string
	Actions []keyActionOutput
}

type keyActionOutput struct {
	Name    string
	Keys    []string
	Default []string
	Text    string
}

func inspectKeys(w io.Writer, o *outputFlags, contexts []ui.KeyContext, template bool) error {
	switch {
	case template:
		writeKeysTemplate(w, contexts)
		return nil
	case !o.json():
		writeKeys(w, contexts)
		return nil
	}
	var out keysOutput
	for _, c := range contexts {
		list := keyContextOutput{Name: c.Name}
		for _, k := range c.Keys {
			list.Actions = append(list.Actions, keyActionOutput{k.Name, k.Keys, k.Default, k.Text})
		}
		out.Contexts = append(out.Contexts, list)
	}
	return writeReport(w, report.Head{}, out)
}

func writeKeys(w io.Writer, contexts []ui.KeyContext) {
	var rows [][]string
	for _, c := range contexts {
		for i, k := range c.Keys {
			name, changed := "", ""
			if i == 0 {
				name = c.Name
			}
			if !slices.Equal(k.Keys, k.Default) {
				changed = "was " + strings.Join(k.Default, " ")
			}
			rows = append(rows, []string{name, k.Name, strings.Join(k.Keys, " "), changed, k.Text})
		}
	}
	writeTable(w, []string{"context", "action", "keys", "", "~what it does"}, rows)
}

// writeKeysTemplate writes a file of keys that changes none.
func writeKeysTemplate(w io.Writer, contexts []ui.KeyContext) {
	fmt.Fprintln(w, "# Keys of the workbench: of each action those that it has now. What is left out stays as it is.")
	for _, c := range contexts {
		fmt.Fprintf(w, "\n%s:\n", c.Name)
		for i, k := range c.Keys {
			mark := ""
			if slices.ContainsFunc(c.Keys[:i], func(o ui.KeyAction) bool { return o.Name == k.Name }) {
				mark = "# " // one entry speaks of both
			}
			keys := make([]string, len(k.Keys))
			for n, key := range k.Keys {
				keys[n] = strconv.Quote(key)
			}
			list := "[" + strings.Join(keys, ", ") + "]"
			if len(keys) == 1 {
				list = keys[0]
			}
			fmt.Fprintf(w, "  %s# %s\n  %s%s: %s\n", mark, k.Text, mark, strconv.Quote(k.Name), list)
		}
	}
}
