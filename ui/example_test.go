package ui_test

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/trtui/trtui/ui"
)

// A table of layers, drawn without a terminal.
func ExampleTable() {
	layers := []struct {
		name string
		us   float64
	}{{"stem/conv + relu", 120}, {"head/gemm", 14}, {"stage1/conv", 310}}
	table := ui.Table{
		Rows: len(layers),
		Columns: []ui.Column{
			{Title: "layer", Width: 10, Flex: 1, Cell: func(r int) ui.Cell { return ui.Cell{Text: layers[r].name} }},
			{Width: 8, Cell: func(r int) ui.Cell { return ui.Cell{Bar: &ui.Bar{Value: layers[r].us, Max: 320}} }},
			{Title: "µs", Width: 5, Align: ui.AlignRight, Down: true,
				Cell:  func(r int) ui.Cell { return ui.Cell{Text: ui.Number(layers[r].us)} },
				Order: func(a, b int) int { return cmp.Compare(layers[a].us, layers[b].us) }},
		},
	}
	table.SortBy(2, true)
	look := ui.NewLook(ui.Options{NoColor: true, ASCII: true})
	for line := range lines(look.Render(40, 4, table.Draw)) {
		fmt.Println("|" + line)
	}
	// Output:
	// | layer                             vus
	// | stage1/conv           ========    310
	// | stem/conv + relu      ===         120
	// | head/gemm                          14
}

// lines yields the lines of a picture without styles and trailing blanks.
func lines(s string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for line := range strings.SplitSeq(ansi.Strip(s), "\n") {
			if !yield(strings.TrimRight(line, " ")) {
				return
			}
		}
	}
}
