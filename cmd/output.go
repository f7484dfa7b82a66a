package cmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// writeReport writes a report in the form for scripts, behind the schema's version and the head of all documents.
func writeReport(w io.Writer, head report.Head, document any) error {
	head.Commit = ownCommit()
	data, err := report.MarshalOutput(head, document)
	if err != nil {
		return err
	}
	return writeJSON(w, json.RawMessage(data))
}

// writeJSON writes a value as indented JSON.
func writeJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := underlying(w).Write(ui.VisibleJSON(b.Bytes()))
	return err
}

// writeTable writes rows under a header, without colours. Columns are as wide as they need; where w is a terminal that is
// too narrow for that, the columns whose header begins with "~" are left out, the last first, and then the widest texts
// cut. A header that begins with ">", behind that, heads a column of numbers, which is aligned to the right, and one that begins
// with "@" a column of names of layers or tensors, which are cut so that they differ as the whole ones do.
func writeTable(w io.Writer, header []string, rows [][]string) {
	rows = slices.Clone(rows)
	for i, r := range rows {
		rows[i] = slices.Clone(r)
		for j, cell := range r {
			rows[i][j] = ui.VisibleName(cell)
		}
	}
	columns := make([]tableColumn, len(header))
	for i, h := range header {
		var c tableColumn
		c.name, c.optional = strings.CutPrefix(h, "~")
		c.name, c.number = strings.CutPrefix(c.name, ">")
		c.name, c.names = strings.CutPrefix(c.name, "@")
		c.width = lipgloss.Width(c.name)
		for _, r := range rows {
			c.width = max(c.width, lipgloss.Width(r[i]))
		}
		columns[i] = c
	}
	fitColumns(columns, terminalWidth(w))
	titles := make([]string, len(columns))
	for i, c := range columns {
		titles[i] = c.name
		if c.names && c.width > 0 {
			shortenNames(rows, i, c.width)
		}
	}
	writeRow(w, columns, titles)
	for _, r := range rows {
		writeRow(w, columns, r)
	}
}

// tableColumn is a column of a printed table.
type tableColumn struct {
	name                    string
	number, optional, names bool
	width                   int // 0: left out
}

// The least width to which a text is cut, that to which names are before columns are left out for them, and the space behind each
// column.
const (
	leastText   = 12
	comfortable = 44
	columnSpace = 2
)

// shortenNames cuts the names in a column to a width, as a table of the workbench does.
func shortenNames(rows [][]string, column, width int) {
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = r[column]
	}
	short := ui.NewNames(names)
	for _, r := range rows {
		r[column] = short.Short(r[column], width, '…')
	}
}

// fitColumns makes columns narrower until they fit into so many cells, as far as that goes; 0 is any number of cells. What the
// columns that are left out leave over, names take.
func fitColumns(columns []tableColumn, cells int) {
	if cells == 0 {
		return
	}
	over := -columnSpace - cells
	for _, c := range columns {
		over += c.width + columnSpace
	}
	wanted := slices.Clone(columns)
	over = narrow(columns, over, comfortable, func(c tableColumn) bool { return c.names })
	for i := len(columns) - 1; i >= 0; i-- {
		if c := &columns[i]; over > 0 && c.optional {
			over -= c.width + columnSpace
			c.width = 0
		}
	}
	over = narrow(columns, over, leastText, func(c tableColumn) bool { return !c.number })
	for i := range columns {
		if c := &columns[i]; c.names && c.width > 0 && over < 0 {
			more := min(wanted[i].width-c.width, -over)
			c.width, over = c.width+more, over+more
		}
	}
}

// narrow takes cells from the widest of some columns until over is 0 or none is wider than least; it returns what is still over.
func narrow(columns []tableColumn, over, least int, some func(tableColumn) bool) int {
	for ; over > 0; over-- {
		widest := -1
		for i, c := range columns {
			if some(c) && c.width > least && (widest < 0 || c.width > columns[widest].width) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		columns[widest].width--
	}
	return over
}

func writeRow(w io.Writer, columns []tableColumn, cells []string) {
	var b strings.Builder
	for i, c := range columns {
		if c.width == 0 {
			continue
		}
		text := ui.Middle(cells[i], c.width, '…') // tactics, formats
		if i == len(columns)-1 {
			text = ui.Truncate(cells[i], c.width, '…') // the last column may be a sentence
		}
		space := strings.Repeat(" ", c.width-lipgloss.Width(text))
		if c.number {
			text = space + text
		} else {
			text += space
		}
		b.WriteString(text + strings.Repeat(" ", columnSpace))
	}
	fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
}

// short returns a layer's name on one line: a fused layer's is that of its principal member and the number of the others. Tables
// cut it where it must be.
func short(name string) string {
	first, more := report.Principal(ui.VisibleName(name))
	return first + more
}

// bar draws a share from 0 to 1 over so many cells.
func bar(share float64, cells int) string {
	n := int(share*float64(cells) + 0.5)
	return strings.Repeat("█", max(0, min(cells, n)))
}

// ms prints a time in milliseconds, with three decimals, and of short times as many as three digits need.
func ms(d time.Duration) string {
	decimals := 3
	for limit := 100 * time.Microsecond; d != 0 && d.Abs() < limit && decimals < 6; limit /= 10 {
		decimals++
	}
	return fmt.Sprintf("%.*f", decimals, float64(d)/1e6)
}

// us prints a time in microseconds.
func us(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d)/1e3) }

// percent prints a share from 0 to 1, "-" where there is none.
func percent(share float64) string {
	if share < 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", 100*share)
}

// decibels prints a signal-to-noise ratio; what is equal has none.
func decibels(db float64) string {
	switch {
	case db >= quant.MaxDB:
		return "exact"
	case db <= -quant.MaxDB: // nothing is left, or it is not finite
		return "none"
	}
	return fmt.Sprintf("%.1f", db)
}

// ratio prints a signal-to-noise ratio with its unit.
func ratio(db float64) string {
	if math.Abs(db) >= quant.MaxDB {
		return decibels(db)
	}
	return decibels(db) + " dB"
}

// bytesText prints a number of bytes in the unit in which it has one to four digits.
func bytesText(n int) string {
	if n < 0 {
		return "-" + ui.Bytes(-int64(n))
	}
	return ui.Bytes(int64(n))
}

// moreBytes prints a difference of bytes with its sign.
func moreBytes(n int) string {
	if n < 0 {
		return bytesText(n)
	}
	return "+" + bytesText(n)
}
