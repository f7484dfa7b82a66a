package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"
)

// Align says where a column keeps its text.
type Align int

// Alignments.
const (
	AlignLeft Align = iota
	AlignRight
	AlignZero // its title in the middle, where bars to both sides have their zero
)

// Cell is what a column shows for a row: text, or a bar with no text, or a spark
// line. Text starts with Mark where that is not zero.
type Cell struct {
	Text  string
	Style Style
	Bar   *Bar
	Spark []float64
}

// Column is one column of a table.
type Column struct {
	Title    string
	Align    Align
	Width    int // cells; for a flexible column the least
	Group    int // columns of one are shown all or not at all; 0: of none
	Flex     int // part of the space that is left over; 0: always Width
	Priority int // columns with the highest number go first where it is narrow; 0 stays
	Cell     func(row int) Cell
	Order    func(a, b int) int // compares two rows, smallest first; nil: cannot be sorted by
	Down     bool               // sorting by it starts with the largest first
	Name     bool               // its cells are names: cut in the middle if they must, but space that is left over goes to them first
	Files    bool               // with Name: they are no paths of layers, but names of files or configurations
}

// A Table shows rows of columns. Only the visible rows are asked for, so that
// ten thousand cost as much as twenty. Rows are numbered from 0 to Rows-1 in the
// owner's order; sorting and filtering only change which are shown where.
type Table struct {
	Columns []Column
	Rows    int
	Label   func(row int) string // what filters look at; nil: the first column
	Ground  func(row int) Style  // a ground for a whole row, Plain for none; may be nil
	Empty   string               // shown where there are no rows

	position position
	shown    []int // rows in the order shown
	fresh    bool  // shown fits rows, filter and order
	sort     int   // column + 1, 0 for the owner's order
	reverse  bool
	filter   *Filter
	shift    int        // cells by which the first column is scrolled
	wants    []int      // by column, the cells of its longest name; nil where that must be found out anew
	names    []shortens // by column, its names; nil where it has none
}

// shortens is what makes names of a column short enough.
type shortens interface {
	Short(name string, w int, mark rune) string
}

// Keys returns the keys of a table, for the view's Keys.
func (t *Table) Keys() []Key {
	return append(FilterKeys(), Key{Keys: []string{"o", "O"}, Short: "sort", Long: "sort by the next column / reverse"})
}

// Refresh says that rows were added, removed or changed. The cursor stays on its row.
func (t *Table) Refresh() { t.fresh = false }

// SortBy sorts by a column; -1 restores the owner's order.
func (t *Table) SortBy(column int, reverse bool) {
	t.sort, t.reverse, t.fresh = column+1, reverse, false
}

// Sorted returns the column that the table is sorted by, or -1, and the direction.
func (t *Table) Sorted() (column int, reverse bool) { return t.sort - 1, t.reverse }

// Row returns the row under the cursor, or -1 if none is shown.
func (t *Table) Row() int {
	t.arrange()
	if t.position.at < len(t.shown) {
		return t.shown[t.position.at]
	}
	return -1
}

// Select puts the cursor on a row; it reports false if the filter hides it.
func (t *Table) Select(row int) bool {
	t.arrange()
	i := slices.Index(t.shown, row)
	if i < 0 {
		return false
	}
	t.position.at = i
	return true
}

// Top puts the cursor on the row that is shown first.
func (t *Table) Top() {
	t.arrange()
	t.position.at = 0
}

// Shown returns how many rows the filter leaves.
func (t *Table) Shown() int {
	t.arrange()
	return len(t.shown)
}

// Update handles motion, sorting and filtering; it reports whether the message
// was one of these.
func (t *Table) Update(msg tea.Msg) bool {
	switch msg := msg.(type) {
	case FilterMsg:
		t.filter, t.fresh = msg.Filter, false
		return true
	case MatchMsg:
		t.arrange()
		if n := len(t.shown); n > 0 {
			t.position.at = ((t.position.at+msg.Step)%n + n) % n
		}
		return true
	case tableSpot:
		return msg.table == t && t.click(msg)
	case tea.KeyPressMsg:
		return t.key(msg.String())
	}
	return false
}

// tableSpot is a click on a row, by its place among the shown ones, or on the title of a column, where the row is -1.
type tableSpot struct {
	table       *Table
	row, column int
}

// click puts the cursor on a row, or sorts by a column, and by it the other way round if it is sorted by it already.
func (t *Table) click(s tableSpot) bool {
	switch {
	case s.row >= 0:
		t.arrange()
		t.position.at = max(min(s.row, len(t.shown)-1), 0)
	case t.sort == s.column+1:
		t.resort(s.column, !t.reverse)
	case t.Columns[s.column].Order != nil:
		t.resort(s.column, t.Columns[s.column].Down)
	}
	return true
}

func (t *Table) key(name string) bool {
	t.arrange()
	switch name {
	case "o":
		t.cycleSort()
	case "O":
		t.resort(t.sort-1, !t.reverse)
	case "left", "h":
		t.shift = max(t.shift-8, 0)
	case "right", "l":
		t.shift += 8
	default:
		return t.position.move(name, len(t.shown))
	}
	return true
}

// cycleSort sorts by the next column that has an order, then by none.
func (t *Table) cycleSort() {
	for i := t.sort; i < len(t.Columns); i++ {
		if t.Columns[i].Order != nil {
			t.resort(i, t.Columns[i].Down)
			return
		}
	}
	t.SortBy(-1, false)
}

// resort is SortBy for a person, who is to see what is first then: a cursor on the first row, which nobody put there, stays first.
func (t *Table) resort(column int, reverse bool) {
	t.arrange()
	first := t.position.at == 0
	t.SortBy(column, reverse)
	if first {
		t.Top()
	}
}

// arrange brings the list of shown rows up to date, and keeps the cursor on its row.
func (t *Table) arrange() {
	if t.fresh {
		return
	}
	row := -1
	if t.position.at < len(t.shown) {
		row = t.shown[t.position.at]
	}
	t.fresh, t.wants = true, nil
	t.shown = t.shown[:0]
	for r := range t.Rows {
		if t.filter.Match(t.label(r)) {
			t.shown = append(t.shown, r)
		}
	}
	t.order()
	if i := slices.Index(t.shown, row); i >= 0 {
		t.position.at = i
	}
	t.position.clamp(len(t.shown), 0)
}

// order sorts the shown rows; rows that compare equal keep the owner's order.
func (t *Table) order() {
	if t.sort == 0 || t.sort > len(t.Columns) || t.Columns[t.sort-1].Order == nil {
		if t.reverse {
			slices.Reverse(t.shown)
		}
		return
	}
	order := t.Columns[t.sort-1].Order
	slices.SortStableFunc(t.shown, func(a, b int) int {
		if t.reverse {
			return order(b, a)
		}
		return order(a, b)
	})
}

func (t *Table) label(row int) string {
	if t.filter == nil {
		return ""
	}
	if t.Label != nil {
		return t.Label(row)
	}
	if len(t.Columns) == 0 {
		return ""
	}
	return t.Columns[0].Cell(row).Text
}
