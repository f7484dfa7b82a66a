package views

import (
	"reflect"
	"testing"

	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
)

// tables calls f for each table that a view has, itself or in what it points to.
func tables(v reflect.Value, depth int, seen map[uintptr]bool, f func(reflect.Value)) {
	if depth == 0 {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && !seen[v.Pointer()] {
			seen[v.Pointer()] = true
			tables(v.Elem(), depth, seen, f)
		}
	case reflect.Interface:
		if !v.IsNil() {
			tables(v.Elem(), depth, seen, f)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[ui.Table]() {
			f(v)
			return
		}
		for i := range v.NumField() {
			tables(v.Field(i), depth-1, seen, f)
		}
	}
}

// TestHeads: no column's head is cut, and no two columns of a table have the same.
func TestHeads(t *testing.T) {
	for _, keys := range [][]string{nil, {"3", "%"}, {"6", "s"}} {
		b := newBench(t, ui.Options{NoColor: true}, panetest.Fixture(t))
		b.size(120, 40)
		b.press(keys...)
		count := 0
		screens := reflect.ValueOf(b.app).Elem().FieldByName("screens")
		for k := range screens.Len() {
			s := screens.Index(k).Elem()
			key, list := s.FieldByName("Key").String(), s.FieldByName("Views")
			for j := range list.Len() {
				tables(list.Index(j), 4, map[uintptr]bool{}, func(table reflect.Value) {
					heads, columns := map[string]bool{}, table.FieldByName("Columns")
					for i := range columns.Len() {
						title, width := columns.Index(i).FieldByName("Title").String(), int(columns.Index(i).FieldByName("Width").Int())
						if count++; ui.Width(title) > width {
							t.Errorf("screen %s, pane %d: %q does not fit %d cells", key, j, title, width)
						}
						if title != "" && heads[title] {
							t.Errorf("screen %s, pane %d: two columns %q", key, j, title)
						}
						heads[title] = true
					}
				})
			}
		}
		if count < 100 {
			t.Errorf("only %d columns were looked at", count)
		}
	}
}
