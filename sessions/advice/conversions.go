package advice

import (
	"fmt"
	"strings"

	"github.com/trtui/trtui/sessions/report"
)

// costly is the part of the time from which what computes nothing is too much.
const costly = 0.1

// conversions finds changes of type that are steps of their own and take much of the time together.
func conversions(f *facts) []report.Finding {
	sum, n := f.sumOf(func(l *report.LayerTiming) bool { return isConversion(l.Op) && !l.Reformat })
	if sum.Share < costly {
		return nil
	}
	return []report.Finding{{Severity: report.Warning, Remedy: report.RemedyPrecision, Layer: sum.Name, Time: sum.Median, Bytes: sum.Bytes,
		Text:     fmt.Sprintf("%s of type %s %s of the time and %s %s; the longest is %s", plural(n, "change"), verb(n, "take"), percent(sum.Share), verb(n, "move"), size(sum.Bytes), short(sum.Name)),
		Evidence: []report.Evidence{number("conversions", float64(n)), shareOf(sum.Share), bytes("moved", sum.Bytes)}}}
}

// reformats finds changes of layout that take much of the time together.
func reformats(f *facts) []report.Finding {
	sum, n := f.sumOf(func(l *report.LayerTiming) bool { return l.Reformat })
	if sum.Share < notableShare {
		return nil
	}
	text := fmt.Sprintf("%s %s %s of the time and %s %s; the longest is %s", plural(n, "reformat"), verb(n, "take"), percent(sum.Share), verb(n, "move"), size(sum.Bytes), sum.Name)
	if origin := f.steps[sum.Name].Origin; origin != "" {
		text += ", " + origin
	}
	return []report.Finding{{Severity: report.Warning, Remedy: report.RemedyTactics, Layer: consumerOf(f, sum.Name), Time: sum.Median, Bytes: sum.Bytes, Text: text,
		Evidence: []report.Evidence{number("reformats", float64(n)), shareOf(sum.Share), bytes("moved", sum.Bytes)}}}
}

// verb returns a verb for so many.
func verb(n int, word string) string {
	if n == 1 {
		return word + "s"
	}
	return word
}

// reformatted returns the tensor that a step reformats, as its name says.
func reformatted(step string) string {
	name := strings.TrimPrefix(step, "Reformat ")
	if i := strings.LastIndex(name, " to "); i >= 0 {
		name = name[:i]
	}
	return name
}

// consumerOf returns the name of a layer that reads what a step reformats, or else of the one that makes it.
func consumerOf(f *facts, step string) string {
	tensor := reformatted(step)
	if list := f.consumers[tensor]; len(list) > 0 {
		return list[0].Name
	}
	if l := f.makers[tensor]; l != nil {
		return l.Name
	}
	return ""
}
