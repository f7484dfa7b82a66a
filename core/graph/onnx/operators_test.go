package onnx

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
)

var update = flag.Bool("update", false, "write the list of ONNX's operators in docs/operators.md anew")

// The lists of ONNX's operators, of ai.onnx.ml's and of those on trial lie between such lines of docs/operators.md.
const listEnds = "<!-- end of the list -->\n"

// TestOperatorsDocument compares docs/operators.md with the operators that are imported: its lists are of ONNX's, of ai.onnx.ml's and of
// those on trial, and each row of its table begins with one of com.microsoft's.
func TestOperatorsDocument(t *testing.T) {
	const file = "../../../docs/operators.md"
	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var onnx, ml, preview, microsoft []string
	add := func(name string) {
		if s, ok := strings.CutPrefix(name, "com.microsoft:"); ok {
			microsoft = append(microsoft, s)
		} else if s, ok := strings.CutPrefix(name, "ai.onnx.ml:"); ok {
			ml = append(ml, s)
		} else if strings.HasPrefix(name, "ai.onnx.preview") {
			preview = append(preview, name)
		} else {
			onnx = append(onnx, name)
		}
	}
	add("Constant") // which makes no layer
	for _, op := range graph.Ops().All() {
		for _, name := range op.Onnx {
			add(name)
		}
	}
	for name := range sequenceOps { // which make none either
		add(name)
	}
	add("SequenceMap")
	for _, c := range graph.Ops().Composites() {
		add(c.Onnx)
	}
	for _, l := range []struct {
		begins string
		names  []string
	}{{"<!-- list -->\n", onnx}, {"<!-- list of ai.onnx.ml -->\n", ml}, {"<!-- list of ai.onnx.preview -->\n", preview}} {
		slices.Sort(l.names)
		begin := bytes.Index(doc, []byte(l.begins))
		end := begin + max(0, bytes.Index(doc[max(0, begin):], []byte(listEnds)))
		if begin < 0 || end == begin {
			t.Fatal("the lines around a list are missing")
		}
		list := wrap(l.names)
		switch have := string(doc[begin+len(l.begins) : end]); {
		case have == list:
		case *update:
			doc = slices.Concat(doc[:begin+len(l.begins)], []byte(list), doc[end:])
			if err := os.WriteFile(file, doc, 0o644); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("the list is not that of the operators; run go test ./core/graph/onnx -run %s -update", t.Name())
		}
	}
	slices.Sort(microsoft)
	var rows []string
	for line := range strings.Lines(string(doc)) {
		if s, ok := strings.CutPrefix(line, "| `"); ok {
			rows = append(rows, s[:strings.Index(s, "`")])
		}
	}
	if !slices.Equal(rows, microsoft) {
		t.Errorf("the table has %v\nwant %v", rows, microsoft)
	}
}

// wrap writes names in lines that are not long.
func wrap(names []string) string {
	var b strings.Builder
	width := 0
	for i, name := range names {
		s := name
		if i < len(names)-1 {
			s += ","
		}
		switch {
		case width+len(s) > 118:
			b.WriteByte('\n')
			width = 0
		case width > 0:
			b.WriteByte(' ')
			width++
		}
		fmt.Fprint(&b, s)
		width += len(s)
	}
	return b.String() + "\n"
}
