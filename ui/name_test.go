package ui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestName(t *testing.T) {
	for _, c := range []struct {
		name string
		w    int
		want string
	}{
		{"/conv1/Conv", 11, "/conv1/Conv"},
		{"/layer4/layer4.2/conv2/Conv", 22, "/layer4.2/conv2/Conv"},
		{"/layer4/layer4.2/conv2/Conv +1", 21, "/lay4.2/conv2/Conv +1"},
		{"block1/second/conv/Conv +3", 22, "block1/second/Conv +3"},
		{"/bert/encoder/layer.11/attention/query/MatMul", 40, "/ber/enc/layer.11/attention/query/MatMul"},
		{"/bert/encoder/layer.11/attention/query/MatMul", 33, "/ber/enc/lay.11/att/query/MatMul"},
		{"/bert/encoder/layer.11/attention/query/MatMul", 26, "…enc/lay.11/att/que/MatMul"},
		{"/bert/encoder/layer.11/attention/query/MatMul", 22, "…lay.11/att/que/MatMul"},
		{"/bert/encoder/layer.11/attention/query/MatMul", 21, "…l.11/att/que/MatMul"},
		{"/bert/encoder/layer.11/attention/query/MatMul", 16, "…l.11/a/…/MatMul"},
		{"model.layers.3.mlp.down_proj.weight", 20, "…3.mlp.dow.weight"},
		{"down_blocks.0/attn1x2/Add", 14, "d.0/att…x2/Add"},
		{"/Add + /blocks.3/c2/Conv", 20, "/Add + /b.3/c2/Conv"},
		{"/blocks.0/c2/Conv + Add", 20, "/blo.0/c2/Conv + Add"},
		{"/encoder/layer.1/Add + /encoder/layer.1/MatMul", 32, "/e/lay.1/Add + /enc/lay.1/MatMul"},
		{"/encoder/layer.1/Add + /encoder/layer.1/MatMul", 16, "/e/l.1/A…/MatMul"},
		{"tower", 3, "to…"},
		{"/héhé/ééé/Conv", 8, "/h/é…onv"},
		{"", 3, ""},
		{"////", 2, "…/"},
	} {
		got := Name(c.name, c.w, '…')
		if Width(got) > c.w {
			t.Errorf("Name(%q, %d) = %q is %d wide", c.name, c.w, got, Width(got))
		}
		if got != c.want {
			t.Errorf("Name(%q, %d) = %q, want %q", c.name, c.w, got, c.want)
		}
	}
}

// TestNamesOfTable: names of which all begin alike are told without that where they do not fit, so that they differ at any width, and
// no wider table shows less of them.
func TestNamesOfTable(t *testing.T) {
	names := []string{"/model/backbone/stages/stage.0/conv/Conv", "/model/backbone/stages/stage.0/norm/Conv", "/model/backbone/stages/stage.1/conv/Conv"}
	table := &Table{Rows: len(names), Columns: []Column{
		{Title: "layer", Name: true, Width: 18, Flex: 3, Cell: func(r int) Cell { return Cell{Text: names[r]} }},
		{Title: "bar", Width: 6, Flex: 4, Cell: func(int) Cell { return Cell{Bar: &Bar{Value: 1, Max: 2}} }},
		{Title: "kind", Width: 8, Priority: 4, Cell: func(int) Cell { return Cell{Text: "same"} }},
		{Title: "tactics", Width: 24, Flex: 1, Priority: 8, Cell: func(int) Cell { return Cell{Text: "conv"} }},
	}}
	last := 0
	for w := 32; w <= 200; w++ {
		lines := strings.Split(ansi.Strip(NewLook(Options{NoColor: true}).Render(w, 5, table.Draw)), "\n")
		first := strings.Fields(strings.TrimLeft(lines[1], "▸ "))[0]
		if w == 32 && first != "stage.0/conv/Conv" {
			t.Errorf("at %d cells the name is %q", w, first)
		}
		if n := Width(first); n < last {
			t.Errorf("at %d cells the name is %q, which is shorter than at %d", w, first, w-1)
		} else {
			last = n
		}
	}
}
