package cmd

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/trtui/trtui/sessions/budget"
	"github.com/trtui/trtui/sessions/report"
)

// write prints what came of a budget in the format that was asked for.
func (o *checkFlags) write(w io.Writer, snap *report.Snapshot, c *report.Check) error {
	switch o.output.format {
	case "json":
		return writeReport(w, snap.Head(), c)
	case "junit":
		return o.writeJUnit(w, snap, c)
	case "markdown":
		o.writeMarkdown(w, snap, c)
		return nil
	}
	writeHeading(w, snap)
	fmt.Fprintln(w, checkHeading(c))
	fmt.Fprintln(w)
	var rows [][]string
	for _, r := range c.Rows {
		rows = append(rows, []string{r.Metric, checkValue(r), checkLimit(r), figure(r.Baseline, r.Unit), bar(used(r), 20), string(r.Verdict)})
	}
	writeTable(w, []string{"metric", "measured", "limit", "~baseline", "~of the limit", ""}, rows)
	fmt.Fprintln(w)
	for _, r := range c.Rows {
		if r.What != "" {
			writeNote(w, "%s: %s", r.Metric, r.What)
		}
		if r.Why != "" {
			writeNote(w, "%s: %s", r.Metric, o.why(&r))
		}
	}
	fmt.Fprintln(w, checkResult(c))
	return nil
}

// why says what keeps a verdict from being plain, and how long a measurement would tell.
func (o *checkFlags) why(r *report.CheckRow) string {
	if r.Telling == 0 || o.perRound == 0 {
		return r.Why
	}
	long := (time.Duration(r.Telling) * o.perRound).Round(time.Second)
	return fmt.Sprintf("%s; if it stays there about %d would: --max-duration %s", r.Why, r.Telling, max(long, o.longest+time.Second))
}

// checkHeading says which budget this is and how times were compared.
func checkHeading(c *report.Check) string {
	text := "budget " + c.Budget
	if c.Baseline != "" {
		text += ", baseline " + baselineText(c)
	}
	switch {
	case c.Beside && c.Rounds == 0: // a recording of an older program
		text += ", measured in the same rounds"
	case c.Apart:
		text += ", recorded on two occasions"
	case c.Beside:
		text += fmt.Sprintf(", measured in the same %d rounds", c.Rounds)
	case c.Rounds > 1:
		text += fmt.Sprintf(", measured in %d rounds", c.Rounds)
	}
	return text
}

// baselineText names what limits refer to, and its configuration.
func baselineText(c *report.Check) string {
	if c.BaselineLabel == "" {
		return c.Baseline
	}
	return fmt.Sprintf("%s (%s)", c.Baseline, c.BaselineLabel)
}

// checkResult counts what was kept.
func checkResult(c *report.Check) string {
	all, over, unknown, noise := count(len(c.Rows), "limit"), c.Count(report.CheckFailed), c.Count(report.CheckUnknown), c.Count(report.CheckNoise)
	switch {
	case over > 0 && unknown > 0:
		return fmt.Sprintf("over budget: %d of %s not kept, %d not known", over, all, unknown)
	case over > 0:
		return fmt.Sprintf("over budget: %d of %s not kept", over, all)
	case unknown > 0:
		return fmt.Sprintf("not known of %d of %s", unknown, all)
	case noise > 0:
		return fmt.Sprintf("%d of %s kept, %d over by no more than noise, which passes", len(c.Rows)-noise, all, noise)
	}
	return fmt.Sprintf("all of %s kept", all)
}

func figure(v *float64, unit string) string {
	if v == nil {
		return "-"
	}
	return budget.Format(*v, unit)
}

// checkValue writes what was measured, with the interval in which it lies.
func checkValue(r report.CheckRow) string {
	text := figure(r.Value, r.Unit)
	if r.Low != nil && r.High != nil {
		text += fmt.Sprintf(" (%.4g to %.4g)", *r.Low, *r.High)
	}
	return text
}

// checkLimit writes a limit as it was asked for, and what that comes to.
func checkLimit(r report.CheckRow) string {
	sign := "<="
	if r.Least {
		sign = ">="
	}
	if strings.HasPrefix(r.Asked, "baseline") && r.Value != nil {
		return fmt.Sprintf("%s %s (%s)", sign, budget.Format(r.Limit, r.Unit), r.Asked)
	}
	return sign + " " + r.Asked
}

// used is how much of the limit a value takes, up to 1; where more is better, how much of what is measured the limit is.
func used(r report.CheckRow) float64 {
	if r.Value == nil {
		return 0
	}
	part, whole := *r.Value, r.Limit
	if r.Least {
		part, whole = whole, part
	}
	if whole <= 0 {
		return 0
	}
	return min(part/whole, 1)
}

// writeMarkdown writes a table for a comment on a change.
func (o *checkFlags) writeMarkdown(w io.Writer, snap *report.Snapshot, c *report.Check) {
	fmt.Fprintf(w, "**%s, %s: %s**\n\n%s\n\n", snap.Model.Name, snap.Config.Precision, checkResult(c), checkHeading(c))
	writeMarkdown(w, []string{"metric", ">measured", ">limit", ">baseline", "verdict", ""}, func(row func(...string)) {
		for _, r := range c.Rows {
			verdict := string(r.Verdict)
			if !r.Verdict.Passes() {
				verdict = "**" + verdict + "**"
			}
			row(r.Metric, checkValue(r), checkLimit(r), figure(r.Baseline, r.Unit), verdict, o.why(&r))
		}
	})
}

// The form of JUnit's XML that CI systems read.
type (
	junitSuite struct {
		XMLName  xml.Name    `xml:"testsuite"`
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		File    string        `xml:"file,attr"`
		Line    int           `xml:"line,attr"`
		Failure *junitMessage `xml:"failure"`
		Error   *junitMessage `xml:"error"`
		Out     string        `xml:"system-out"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
	}
)

// writeJUnit writes each limit as a test, which fails where the limit is not kept and has an error where that is not known.
func (o *checkFlags) writeJUnit(w io.Writer, snap *report.Snapshot, c *report.Check) error {
	suite := junitSuite{Name: "trtui check " + snap.Model.Name, Tests: len(c.Rows)}
	for _, r := range c.Rows {
		text := fmt.Sprintf("%s, limit %s, baseline %s", checkValue(r), checkLimit(r), figure(r.Baseline, r.Unit))
		if r.Baseline != nil {
			text += " of " + baselineText(c)
		}
		if r.What != "" {
			text += ": " + r.What
		}
		if r.Why != "" {
			text += ": " + o.why(&r)
		}
		one := junitCase{Class: snap.Model.Name + " " + string(snap.Config.Precision), Name: r.Metric, File: c.Budget, Line: r.Line, Out: text}
		switch r.Verdict {
		case report.CheckFailed:
			suite.Failures++
			one.Failure = &junitMessage{text}
		case report.CheckUnknown:
			suite.Errors++
			one.Error = &junitMessage{text}
		}
		suite.Cases = append(suite.Cases, one)
	}
	data, err := xml.MarshalIndent(suite, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, data)
	return err
}
