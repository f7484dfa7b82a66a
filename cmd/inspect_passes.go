package cmd

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// fewPlaces are as many places of one rule, left for one cause or not, as are listed one by one.
const fewPlaces = 3

// writePasses writes what each pass did and why not more; all lists places one by one however many there are.
func writePasses(w io.Writer, s *report.Snapshot, all bool) {
	p := s.Passes
	writeHeading(w, s)
	if s.Refused() {
		fmt.Fprintf(w, "not runnable: %s; only the passes that do not depend on precision are shown\n", ui.VisibleName(s.Model.NotRunnable))
	}
	folded := false
	step := func(number int, st *report.PassStep) {
		fmt.Fprintf(w, "%2d %-24s %3d applied, %3d rejected, %3d layers left, %s\n", number, st.Pass, len(st.Fired), len(st.Missed), st.Layers, report.Duration(st.Elapsed))
		folded = writeFired(w, st, all) || folded
		folded = writeMissed(w, st, all) || folded
	}
	if p.Dropped != nil {
		step(0, p.Dropped)
	}
	for i := range p.Steps {
		step(i+1, &p.Steps[i])
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
	if folded {
		fmt.Fprintln(w, "--verbose lists every place")
	}
	fmt.Fprintln(w)
	var rows [][]string
	for _, e := range p.Ledger {
		rows = append(rows, []string{short(e.Layer), e.Op, e.Fate, short(e.Into), e.Pass})
	}
	writeTable(w, []string{"@source layer", "op", "fate", "@into", "by"}, rows)
}

// writeFired lists the places where a pass applied, rule by rule; it reports whether not all were.
func writeFired(w io.Writer, st *report.PassStep, all bool) (folded bool) {
	for _, sites := range st.FiredByRule() {
		if all || len(sites) <= fewPlaces {
			for _, f := range sites {
				fmt.Fprintf(w, "     + %s -> %s%s\n", siteArgument(f.Site), ui.VisibleName(cmp.Or(f.Into, "(removed)")), savedText(f))
			}
			continue
		}
		sum := report.FiredSite{Note: commonNote(sites)}
		for _, f := range sites {
			sum.KernelsSaved, sum.BytesSaved = sum.KernelsSaved+f.KernelsSaved, sum.BytesSaved+f.BytesSaved
		}
		fmt.Fprintf(w, "     + %s at %d places%s; the first is %s\n", sites[0].Rule, len(sites), savedText(sum), siteArgument(sites[0].Site))
		folded = true
	}
	return folded
}

// commonNote returns what the notes of all places say, such as why a rule is applied at all.
func commonNote(sites []report.FiredSite) string {
	clauses := strings.Split(sites[0].Note, "; ")
	for _, f := range sites[1:] {
		clauses = slices.DeleteFunc(clauses, func(c string) bool { return !slices.Contains(strings.Split(f.Note, "; "), c) })
	}
	return strings.Join(clauses, "; ")
}

// writeMissed lists the places that a pass rejected, cause by cause; it reports whether not all were.
func writeMissed(w io.Writer, st *report.PassStep, all bool) (folded bool) {
	for _, group := range st.Misses() {
		if all || len(group.Sites) <= fewPlaces {
			for _, m := range group.Sites {
				fmt.Fprintf(w, "     - %s: %s\n", siteArgument(m.Site), becauseText(m.Reason, m.Detail))
			}
			continue
		}
		fmt.Fprintf(w, "     - %s at %d places: %s; the first is %s\n", group.Rule, len(group.Sites),
			becauseText(group.Reason, group.Cause), siteArgument(group.Sites[0].Site))
		folded = true
	}
	return folded
}

// savedText tells in brackets what a rewrite saved, or else what it changed, where it did.
func savedText(f report.FiredSite) string {
	var parts []string
	if f.KernelsSaved != 0 || f.BytesSaved != 0 {
		parts = append(parts, fmt.Sprintf("%s, %s saved", count(f.KernelsSaved, "layer"), bytesText(int(f.BytesSaved))))
	}
	if f.Note != "" {
		parts = append(parts, f.Note)
	}
	if len(parts) == 0 {
		return ""
	}
	return " [" + strings.Join(parts, "; ") + "]"
}

// becauseText is a reason with what stands in the way.
func becauseText(reason, detail string) string {
	if detail == "" {
		return reason
	}
	return fmt.Sprintf("%s (%s)", reason, detail)
}

// writeUnlowered lists the layers that were left in another precision than the one asked for.
func writeUnlowered(w io.Writer, s *report.Snapshot) {
	if list := s.Passes.Unlowered; len(list) > 0 {
		fmt.Fprintf(w, "\nnot %s:\n", s.Config.Precision)
		for _, u := range list {
			fmt.Fprintf(w, "     - %s: %s (%s)\n", ui.VisibleName(u.Layer), u.Precision, u.Reason)
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
	fmt.Fprintf(w, "%s: %d kept, %d fused, %d folded, %d eliminated; %s and %s of traffic saved\n",
		count(len(p.Ledger), "source layer"), p.Kept, p.Fused, p.Folded, p.Eliminated, count(p.KernelsSaved, "layer"), bytesText(int(p.BytesSaved)))
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
