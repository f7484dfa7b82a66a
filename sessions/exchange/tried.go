package exchange

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/trtui/trtui/sessions/report"
)

// triedTable lists the configurations that were tried, in their order.
func triedTable(list []report.RecordedConfig, own bool) table {
	out := table{name: "tried", title: "Configurations tried", columns: []string{"no.", "configuration", "median ms", "p99 ms", "x the first", "in rounds", "side by side", "top-1 %", "agreement %", "SQNR dB", "arena bytes", "weights bytes", "remark"}}
	first := slices.IndexFunc(list, func(c report.RecordedConfig) bool { return c.Median != nil && *c.Median > 0 })
	for i := range list {
		c := &list[i]
		row := []string{strconv.Itoa(i + 1), c.Name, told(c.Median, millis), told(c.P99, millis), "", "", "",
			told(c.Top1, hundredfold), told(c.Agreement, hundredfold), told(c.SQNR, decibels), told(c.ArenaBytes, strconv.Itoa), told(c.Weights, strconv.Itoa), triedRemark(c)}
		if first >= 0 && c.Median != nil && *c.Median > 0 {
			s := c.Measured().Over(list[first].Measured(), own)
			row[4], row[6] = number(s.Beside(*list[first].Median, *c.Median).Ratio), yes(s.SideBySide)
			switch {
			case s.Noise():
				row[5] = "noise"
			case s.SideBySide:
				row[5] = number(s.Ratio)
			}
		}
		out.rows = append(out.rows, row)
	}
	return out
}

func triedRemark(c *report.RecordedConfig) string {
	switch {
	case c.Err != "":
		return c.Err
	case c.Aside:
		return "measured beside others"
	case !c.Settled:
		return "not finished"
	}
	return ""
}

func hundredfold(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) }

// told writes a value that may not be known.
func told[T any](v *T, write func(T) string) string {
	if v == nil {
		return ""
	}
	return write(*v)
}

// quality is a measure by which configurations are judged.
type quality struct {
	title string
	of    func(*report.Point) *float64
	write func(float64) string
}

// qualities are those that pictures know, the best to judge by first; own says that the model has quantisation of its own in it, which
// what is compared with has, too.
func qualities(own bool) []quality {
	reference := (&report.Accuracy{OwnQuantization: own}).Against()
	return []quality{
		{"top-1 %", func(p *report.Point) *float64 { return p.Top1 }, hundredfold},
		{"agreement with " + reference + " %", func(p *report.Point) *float64 { return p.Agreement }, hundredfold},
		{"SQNR dB against " + reference, func(p *report.Point) *float64 { return p.SQNR }, decibels},
	}
}

// triedPicture draws latency against accuracy of what was tried, and the front of what nothing else is faster than and as good.
func triedPicture(list []report.RecordedConfig, own bool) (picture, bool) {
	points := make([]report.ParetoPoint, len(list))
	for i := range list {
		points[i] = report.ParetoPoint{Name: list[i].Name, Point: list[i].Point()}
	}
	return paretoPicture("Configurations tried", points, own)
}

// searchedPicture does the same of the engines that a search for precisions built.
func searchedPicture(s *report.Search, own bool) (picture, bool) {
	if s == nil {
		return picture{}, false
	}
	points := make([]report.ParetoPoint, len(s.Points))
	for i, p := range s.Points {
		points[i] = report.ParetoPoint{Name: searchedName(i, p.Raised), Point: p.Point}
	}
	return paretoPicture("Precisions searched", points, own)
}

// searchedName is what a point of a search is called.
func searchedName(i, raised int) string { return fmt.Sprintf("search %d, %d raised", i+1, raised) }

// searchedTable lists the engines that a search for precisions built, in their order.
func searchedTable(s *report.Search) table {
	out := table{name: "search", title: "Precisions searched", columns: []string{"no.", "name", "median ms", "top-1 %", "agreement %", "SQNR dB", "arena bytes", "weights bytes"}}
	for i, p := range s.Points {
		latency, arena, weights := "", "", ""
		if p.Latency > 0 {
			latency = millis(p.Latency)
		}
		if p.Weights > 0 {
			arena, weights = strconv.Itoa(p.Arena), strconv.Itoa(p.Weights)
		}
		out.rows = append(out.rows, []string{strconv.Itoa(i + 1), searchedName(i, p.Raised), latency, told(p.Top1, hundredfold), told(p.Agreement, hundredfold), told(p.SQNR, decibels), arena, weights})
	}
	return out
}

// paretoPicture plots points by latency and the first measure that two of them have.
func paretoPicture(title string, points []report.ParetoPoint, own bool) (picture, bool) {
	report.Scale(points, own)
	for _, q := range qualities(own) {
		of := func(i int) (x, y float64, ok bool) {
			v := q.of(&points[i].Point)
			if v == nil || points[i].Took <= 0 {
				return 0, 0, false
			}
			return micros(points[i].Took) / 1e3, *v, true
		}
		known := 0
		for i := range points {
			if _, _, ok := of(i); ok {
				known++
			}
		}
		if known > 1 {
			return scatter(title, points, q, of), true
		}
	}
	return picture{}, false
}

// scatter draws the points, each with its number in the table.
func scatter(title string, points []report.ParetoPoint, q quality, of func(i int) (x, y float64, ok bool)) picture {
	const height, left, right = 300.0, 90.0, pictureWidth - 40.0
	var d drawing
	most, low, high := 0.0, math.Inf(1), math.Inf(-1)
	for i := range points {
		if x, y, ok := of(i); ok {
			most, low, high = max(most, x), min(low, y), max(high, y)
		}
	}
	ticks := slices.Compact([]float64{low, high})
	pad := (high - low) / 10
	if pad == 0 {
		pad = max(math.Abs(high)/100, 1e-3)
	}
	at := func(x, y float64) (float64, float64) {
		return left + x/(most*1.05)*(right-left), height - (y-low+pad)/(high-low+2*pad)*height
	}
	front := report.Front(len(points), of)
	var edge []int
	for i := range points {
		if front[i] {
			edge = append(edge, i)
		}
	}
	slices.SortFunc(edge, func(a, b int) int { return cmp.Compare(points[a].Took, points[b].Took) })
	path := ""
	for k, i := range edge {
		vx, vy, _ := of(i)
		x, y := at(vx, vy)
		path += fmt.Sprintf("%s%.1f %.1f", []string{"M", "L"}[min(k, 1)], x, y)
	}
	fmt.Fprintf(&d, `<path class="edge" d="%s"/><path class="axis" d="M%.0f 0V%.0fH%.0f"/>`, path, left, height, right)
	for _, v := range ticks {
		_, y := at(0, v)
		d.text(left-6, y+4, "end", "soft", q.write(v))
	}
	d.text(left, height+16, "start", "soft", "0 ms")
	x, _ := at(most, low)
	d.text(x, height+16, "end", "soft", fmt.Sprintf("%.4g ms", most))
	for i := range points {
		vx, vy, ok := of(i)
		if !ok {
			continue
		}
		x, y := at(vx, vy)
		d.rect(x-4, y-4, 8, 8, precisionClass(string(points[i].Config.Precision)), fmt.Sprintf("%s: %.4g ms, %s %s", points[i].Name, vx, q.title, q.write(vy)))
		mark := strconv.Itoa(i + 1)
		if front[i] {
			mark += " front"
		}
		d.text(x+8, y+4, "start", "", mark)
	}
	return picture{title, q.title + " over latency, numbers as in the table; joined: no other is faster and as good", d.finish(height+22, "latency and accuracy of configurations")}
}
