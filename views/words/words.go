package words

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// Percent writes a share as "12.3%".
func Percent(share float64) string {
	switch v := 100 * share; {
	case v != 0 && v < 0.1 && v > -0.1:
		return fmt.Sprintf("%.2f%%", v)
	case v >= 1000:
		return ui.Number(v) + "%"
	default:
		return fmt.Sprintf("%.1f%%", v)
	}
}

// ExactSQNR is the SQNR, in dB, that stands for equality in reports.
const ExactSQNR = 200

// Perplexity writes that of a text, where it is a number.
func Perplexity(p *float64) string {
	if p == nil {
		return "none"
	}
	return fmt.Sprintf("%.2f", *p)
}

// Decibels writes an SQNR; equality has none.
func Decibels(v float64) string {
	if v >= ExactSQNR {
		return "exact"
	}
	return fmt.Sprintf("%.1f", v)
}

// WithDecibels writes an SQNR with its unit.
func WithDecibels(db float64) string {
	if db >= ExactSQNR {
		return "exact"
	}
	return Decibels(db) + " dB"
}

// Plural writes a count with its noun.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "ch") || strings.HasSuffix(noun, "x") || strings.HasSuffix(noun, "ss") {
		noun += "e"
	}
	return ui.Count(n) + " " + noun + "s"
}

// Duration writes nanoseconds on an axis.
func Duration(ns float64) string { return ui.Duration(time.Duration(ns)) }

// ShortName names a fused layer by its principal member and the number of the others: fused layers are named after all of
// their members, the principal first, which no column is wide enough for. A reformat, which is named after its tensor, is named as
// tensors are.
func ShortName(name string) string {
	first, others := report.Principal(name)
	if strings.HasPrefix(first, "Reformat ") {
		if tensor, to, ok := strings.Cut(first, " to "); ok {
			first = TensorName(tensor) + " to " + to
		}
	}
	return first + others
}

// ShortNames lists layers.
func ShortNames(names []string) string {
	var short []string
	for _, name := range names {
		short = append(short, ShortName(name))
	}
	return strings.Join(short, ", ")
}

// MoreBytes writes a difference of bytes with its sign.
func MoreBytes(n int) string {
	if n < 0 {
		return "-" + ui.Bytes(int64(-n))
	}
	return "+" + ui.Bytes(int64(n))
}

// JoinLayers writes names of layers one after the other; what all begin with, up to a slash, only once:
// "stem/conv/Conv + norm/BatchNormalization"; but "/Add + /stem/conv/Conv".
func JoinLayers(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, report.MemberSeparator)
	}
	prefix := names[0]
	for _, n := range names[1:] {
		for !strings.HasPrefix(n, prefix) {
			prefix = prefix[:strings.LastIndexByte(strings.TrimSuffix(prefix, "/"), '/')+1]
		}
	}
	prefix = prefix[:strings.LastIndexByte(prefix, '/')+1]
	if prefix == "/" { // with which all of the model begin: without it the others would be none that the lists have
		prefix = ""
	}
	out := names[0]
	for _, n := range names[1:] {
		out += report.MemberSeparator + n[len(prefix):]
	}
	return out
}

// Fit shortens a name, or fills it up, to n cells.
func Fit(g *ui.Glyphs, s string, n int) string { return Pad(ui.Name(s, n, g.Ellipsis), n) }

// Pad fills s up to n cells.
func Pad(s string, n int) string {
	return s + strings.Repeat(" ", max(n-ui.Width(s), 0))
}

// TensorName drops the ending that exporters give the first output of every layer.
func TensorName(name string) string { return strings.TrimSuffix(name, "_output_0") }

// OrNaN returns a number, NaN for zero, which stands for none.
func OrNaN(v float64) float64 {
	if v == 0 {
		return math.NaN()
	}
	return v
}

// Speed says how a configuration compares with another, in the words that go before the name of that.
func Speed(s report.Speed) string {
	switch {
	case !s.Noise() && (s.Ratio >= 1.02 || s.Ratio <= 0.98):
		return Faster(s) + " than"
	case s.Noise() && s.Loose():
		return s.Undecided() + " as"
	}
	return s.Undecided() + " from" // what is sure and under 2 % counts as little as in a diff
}

// SpeedBeside is Speed beside the times of both: the ratio is that of these, or that of rounds, which is said.
func SpeedBeside(s report.Speed, reference, own time.Duration) string {
	switch said := s.Beside(reference, own); {
	case s.Noise() || s.Ratio < 1.02 && s.Ratio > 0.98:
		return Speed(s)
	case s.Loose() && s.SideBySide:
		return Faster(s) + " in rounds than"
	case s.Loose():
		return Faster(s) + " than"
	case said.Rounds != 0:
		said.Ratio, said.Rounds = said.Rounds, 0
		return said.Faster() + " in rounds than"
	default:
		return said.Faster() + " than"
	}
}

// Faster says how many times faster or slower something is, or at least is where no more is sure.
func Faster(s report.Speed) string {
	ratio, loose := s.Sure()
	least := ""
	if loose {
		least = "at least "
	}
	if ratio < 1 {
		return fmt.Sprintf("%s%.2fx slower", least, 1/ratio)
	}
	return fmt.Sprintf("%s%.2fx faster", least, ratio)
}

// Ratio writes a ratio as "1.92x", which is that of the times beside it, and as "~1.92x" where its interval is so wide that it says
// little.
func Ratio(s report.Speed) string {
	text := fmt.Sprintf("%.2fx", s.Ratio)
	if s.Loose() {
		return "~" + text
	}
	return text
}

// Model names a model as a person would: by its file.
func Model(m *report.Model) string {
	switch {
	case m.Path == "embedded":
		return m.Name + " (embedded)"
	case m.Path != "":
		return filepath.Base(m.Path)
	}
	return m.Name
}

// At writes a title with the shapes at which all that it heads ran, where they are given.
func At(title, shapes string) string {
	if shapes == "" {
		return title
	}
	return title + " at " + ui.VisibleName(shapes)
}
