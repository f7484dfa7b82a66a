package cmd

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/views"
)

// paletteOf lists what paletteCommands does once it is known what commands have without flags.
func paletteOf(root *cobra.Command) func(start unflagged) []views.Subcommand {
	return func(start unflagged) []views.Subcommand { return paletteCommands(root, start) }
}

// paletteCommands lists the commands below root that do something, for the palette of the workbench: their words are the names in their
// paths, and what people call them (cobra's SuggestFor, which a mistyped command line is helped by, too).
// start is as for callOf.
func paletteCommands(root *cobra.Command, start unflagged) []views.Subcommand {
	var list []views.Subcommand
	for _, c := range root.Commands() {
		if c.Runnable() && c.IsAvailableCommand() && c.Name() != "help" {
			list = append(list, views.Subcommand{
				Line: c.CommandPath(), Doc: c.Short, Words: append(strings.Fields(c.CommandPath())[1:], c.SuggestFor...), Call: callOf(c, c.Root(), start),
			})
		}
		list = append(list, paletteCommands(c, start)...)
	}
	return list
}
