package cmd

import (
	"fmt"
	"io"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

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
		fmt.Fprintf(w, "%s (%s)\n", ui.VisibleName(l.Layer), l.Op)
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
