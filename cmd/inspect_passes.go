package cmd

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

func writePasses(w io.Writer, s *report.Snapshot) {
	p := s.Passes
	writeHeading(w, s)
	if s.Refused() {
		fmt.Fprintf(w, "not runnable: %s; only the passes that do not depend on precision are shown\n", s.Model.NotRunnable)
	}
	for i, st := range p.Steps {
		fmt.Fprintf(w, "%2d %-24s %3d applied, %3d rejected, %3d layers left, %v\n", i+1, st.Pass, len(st.Fired), len(st.Missed), st.Layers, st.Elapsed.Round(1000))
		for _, f := range st.Fired {
			into := f.Into
			if into == "" {
				into = "(removed)"
			}
			fmt.Fprintf(w, "     + %s -> %s", siteArgument(f.Site), into)
			if f.KernelsSaved != 0 || f.BytesSaved != 0 {
				fmt.Fprintf(w, " [%s, %s KiB saved]", count(f.KernelsSaved, "layer"), kib(int(f.BytesSaved)))
			}
			fmt.Fprintln(w)
		}
		for _, m := range st.Missed {
			fmt.Fprintf(w, "     - %s: %s", siteArgument(m.Site), m.Reason)
			if m.Detail != "" {
				fmt.Fprintf(w, " (%s)", m.Detail)
			}
			fmt.Fprintln(w)
		}
	}
	writeUnlowered(w, s)
	for _, u := range p.Unmet {
		fmt.Fprintf(w, "   ! %s\n", u)
	}
	fmt.Fprintln(w)
	writeLedger(w, p)
	if slices.ContainsFunc(p.Steps, func(st report.PassStep) bool { return len(st.Fired) > 0 }) {
		fmt.Fprintln(w, "--disable takes a rule or a place, as shown after + and -")
	}
	fmt.Fprintln(w)
	var rows [][]string
	for _, e := range p.Ledger {
		rows = append(rows, []string{short(e.Layer), e.Op, e.Fate, short(e.Into), e.Pass})
	}
	writeTable(w, []string{"source layer", "op", "fate", "into", "by"}, rows)
}

// writeUnlowered lists the layers that were left in another precision than the one asked for.
func writeUnlowered(w io.Writer, s *report.Snapshot) {
	if list := s.Passes.Unlowered; len(list) > 0 {
		fmt.Fprintf(w, "\nnot %s:\n", s.Config.Precision)
		for _, u := range list {
			fmt.Fprintf(w, "     - %s: %s (%s)\n", u.Layer, u.Precision, u.Reason)
		}
	}
	if s.Passes.Unchanged != "" {
		fmt.Fprintln(w, s.Passes.Unchanged)
	}
}

func writeLedger(w io.Writer, p *report.Passes) {
	if len(p.Ledger) == 0 { // of an engine without its source
		return
	}
	fmt.Fprintf(w, "%s: %d kept, %d fused, %d folded, %d eliminated; %s and %s KiB of traffic saved\n",
		count(len(p.Ledger), "source layer"), p.Kept, p.Fused, p.Folded, p.Eliminated, count(p.KernelsSaved, "layer"), kib(int(p.BytesSaved)))
}

// siteArgument writes a place as --disable takes it from a shell. A layer that is called as a rule is escaped, as it would
// begin another element of the list.
func siteArgument(site string) string {
	rule, list, _ := strings.Cut(site, ":")
	rules := config.RuleNames()
	layers := strings.Split(list, ",")
	for i, name := range layers {
		if head, _, _ := strings.Cut(name, ":"); i > 0 && slices.Contains(rules, head) {
			layers[i] = fmt.Sprintf("%%%02X", name[0]) + name[1:]
		}
	}
	return shellQuoted(rule + ":" + strings.Join(layers, ","))
}

// shellQuoted writes a word as a POSIX shell takes it.
func shellQuoted(s string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_-./:,%+@=", r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
