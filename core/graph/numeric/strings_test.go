package numeric

import (
	"slices"
	"strings"
	"testing"
)

// TestStrings: a value of strings, its parts, and bytes that are none.
func TestStrings(t *testing.T) {
	long := strings.Repeat("x", 300)
	list := []string{"a", "", "日本", long, "b", "c"}
	v := Strings(list, 3, 2)
	if got := v.Strings(); !slices.Equal(got, list) || v.Check() != nil {
		t.Errorf("%q, %v", got, v.Check())
	}
	if got := v.Rows(1, 3).Strings(); !slices.Equal(got, list[2:]) {
		t.Errorf("rows: %q", got)
	}
	if got := v.Part(1, 1, 2); !slices.Equal(got.Strings(), []string{"", long, "c"}) || !slices.Equal(got.Dims, []int{3, 1}) {
		t.Errorf("a part: %q", got.Strings())
	}
	if got := v.First([]int{2}).Strings(); !slices.Equal(got, list[:2]) {
		t.Errorf("the first: %q", got)
	}
	if got := NewValue(Str, 2, 2).Strings(); !slices.Equal(got, make([]string, 4)) {
		t.Errorf("a new value: %q", got)
	}
	for _, data := range [][]byte{{}, {1, 'a'}, {1, 'a', 0, 0}, {2, 'a', 0}, {0x80, 0, 0}, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0}} {
		if err := (Value{Type: Str, Dims: []int{2}, Data: data}).Check(); err == nil {
			t.Errorf("%x passes for two strings", data)
		}
	}
	if f := Strings([]string{"a", "b", "a", ""}, 4).Floats(); f[0] != f[2] || f[0] == f[1] || f[3] != 0 {
		t.Errorf("as numbers they are %v", f)
	}
}

// TestParsed: what strings are as numbers.
func TestParsed(t *testing.T) {
	for _, c := range []struct {
		typ  DataType
		text string
		want string // "" where it is an error
	}{
		{F32, "0.1", "0.1"}, {F32, " -1e3\n", "-1000"}, {F32, "1e400", "INF"}, {F32, "nan", "NaN"}, {F32, "1_0", ""}, {F32, "", ""}, {F32, "1.5x", ""},
		{F64, "123456789", "1.2345679e+08"}, {F16, "65504", "65504"}, {I64, "9223372036854775807", "9223372036854775807"}, {I64, "-1.9", "-1"},
		{U64, "18446744073709551615", "18446744073709551615"}, {I8, "200", "-56"}, {I8, "200.5", "127"}, {U8, "1e2", "100"}, {Bool, "2", "1"}, {Bool, "0.5", "0"}, {Bool, "true", ""},
	} {
		v := NewValue(c.typ, 1)
		err := v.SetParsed([]string{c.text})
		if got := v.Format()[0]; (err == nil) != (c.want != "") || err == nil && got != c.want {
			t.Errorf("%q as %s is %s, %v; want %q", c.text, c.typ, got, err, c.want)
		}
	}
}

// TestStringTable: equal strings have one number, and those of others are an error.
func TestStringTable(t *testing.T) {
	var table StringTable
	v := Strings([]string{"a", "", "b", "a"}, 4)
	n, err := table.Numbers(v)
	if err != nil || !slices.Equal(n.I64(), []int64{1, 0, 2, 1}) {
		t.Errorf("%v, %v", n.I64(), err)
	}
	if back, err := table.Strings(n); err != nil || string(back.Data) != string(v.Data) {
		t.Errorf("%q, %v", back.Data, err)
	}
	kept, err := table.Keep(Strings([]string{"b"}, 1))
	if err != nil || !slices.Equal(kept[0].I64(), []int64{1}) {
		t.Errorf("%v, %v", kept, err)
	}
	for _, number := range []int64{2, -1} {
		if _, err := table.Strings(Values(I64, []int64{number}, 1)); err == nil {
			t.Errorf("number %d is a string's", number)
		}
	}
}
