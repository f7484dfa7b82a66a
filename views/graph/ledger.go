package graph

import (
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/words"
)

// fatesOf returns what became of the source layers by their names.
func fatesOf(p *report.Passes) map[string]report.LedgerEntry {
	if p == nil {
		return nil
	}
	fates := make(map[string]report.LedgerEntry, len(p.Ledger))
	for _, e := range p.Ledger {
		fates[e.Layer] = e
	}
	return fates
}

// fateMark is the sign of what became of a source layer.
func fateMark(g *ui.Glyphs, fate string) (rune, ui.Style) {
	switch fate {
	case "fused":
		return g.Point, ui.Accent
	case "folded":
		return g.Down, ui.Good
	case "eliminated":
		return g.Bad, ui.Warn
	}
	return g.Dot, ui.Faint
}

// fateText tells what became of a source layer.
func fateText(e report.LedgerEntry) string {
	text := e.Fate
	if e.Fate == "fused" && e.Into != "" {
		text += " into " + words.ShortName(e.Into)
	}
	if e.Pass != "" {
		text += " by " + e.Pass
	}
	return text
}
