package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/report"
)

// hintOn says what to do about a model that is not supported as a whole, about layers that a backend does not compute, or that
// refuse what the data holds; "" for other errors.
func hintOn(err error) string {
	if errors.As(err, new(*graph.IndexError)) {
		return "an input gives an index that is out of range; --data names inputs that fit"
	}
	if errors.Is(err, run.ErrNoSource) {
		return "trtui build --keep-source keeps the model in the engine"
	}
	var room *run.NoRoom
	var memory *graph.NoMemory
	if errors.As(err, &room) && room.Limit > 0 || errors.As(err, &memory) && memory.Given {
		return "--max-memory sets the limit"
	}
	if e := new(onnx.ImportError); errors.As(err, &e) && !e.Damaged {
		return "trtui inspect model MODEL, inspect passes and the workbench show the rest of it, which parts are not supported, and why"
	}
	var missing *run.Unsupported
	if !errors.As(err, &missing) {
		return ""
	}
	text := fmt.Sprintf("trtui inspect tactics [MODEL] --backend %s shows what every tactic says of these layers", missing.Backend)
	if host := backends[0].name; missing.Backend != host {
		text += fmt.Sprintf("; --backend %s computes every layer", host)
	}
	return text
}

// unsupportedReport is the JSON of trtui inspect tactics where layers have none.
type unsupportedReport struct {
	Backend     string
	Unsupported []unsupportedLayer
}

type unsupportedLayer struct {
	Layer, Op string
	Reason    string // what can be done about, if anything
	Tactics   []tacticReason
}

type tacticReason struct{ Tactic, Reason string }

func unsupportedOutput(u *run.Unsupported) unsupportedReport {
	r := unsupportedReport{Backend: u.Backend}
	for _, l := range u.Layers {
		out := unsupportedLayer{Layer: l.Layer, Op: l.Op, Reason: l.Reason()}
		for _, c := range l.Reasons {
			out.Tactics = append(out.Tactics, tacticReason{c.Tactic, c.Reason})
		}
		r.Unsupported = append(r.Unsupported, out)
	}
	return r
}

// writeUnsupported prints every tactic's reason for each layer that has none.
func writeUnsupported(w io.Writer, o *outputFlags, head report.Head, u *run.Unsupported) error {
	if o.json() {
		return writeReport(w, head, unsupportedOutput(u))
	}
	fmt.Fprintf(w, "no tactic of %s computes these layers\n\n", u.Backend)
	for _, l := range u.Layers {
		fmt.Fprintf(w, "%s (%s)\n", l.Layer, l.Op)
		if len(l.Reasons) == 0 {
			fmt.Fprintf(w, "there is no tactic for %s\n\n", l.Op)
			continue
		}
		if l.Type != "" {
			fmt.Fprintln(w, l.Reason())
		}
		var rows [][]string
		for _, c := range l.Reasons {
			rows = append(rows, []string{" ", c.Tactic, c.Reason})
		}
		writeTable(w, []string{" ", "tactic", "why not"}, rows)
		fmt.Fprintln(w)
	}
	return nil
}
