package budget

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/report"
)

func read(t *testing.T, text string) *Budget {
	t.Helper()
	b, err := Read(strings.NewReader(text), "budget.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestRefused names the line of what is wrong.
func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                                        "budget.yaml: it is empty",
		"limits: {}":                              "budget.yaml: no limits",
		"- a":                                     "budget.yaml:1: want fields",
		"limits:\n  latncy_p50: 3 ms":             `budget.yaml:2: unknown limit "latncy_p50"; did you mean "latency_p50"`,
		"baseline: x\nlimit:\n  top1: 1":          `budget.yaml:2: unknown field "limit"; did you mean "limits"`,
		"latency: 3 ms":                           `unknown field "latency"; did you mean "latency_p50" or "latency_p99"?; there are baseline, noise, limits, and below "limits:" latency_p50, latency_p99, top1`,
		"limits:\n  top1: 92.0":                   "top1: 92.0 is more than all",
		"noise: fails\nlimits:\n  top1: 1":        "budget.yaml:1: noise: want passes or unknown",
		"top1: 97 %":                              `and below "limits:" latency_p50`,
		"limits:\n  top1: 1\n  top1: 1":           "budget.yaml:3: top1 is there twice",
		"limits:\n\n  top1: 98":                   "budget.yaml:3: top1: 98 is more than all",
		"limits:\n  top1: 5 ms":                   `budget.yaml:2: top1: "ms" is no unit of top1`,
		"limits:\n  arena: [1]":                   "budget.yaml:2: arena: want 12 MiB",
		"limits:\n  arena: -1 MiB":                `budget.yaml:2: arena: "-1 MiB" is no limit`,
		"limits:\n  arena: 1.2.3 MiB":             `budget.yaml:2: arena: "1.2.3" is no number`,
		"limits:\n  latency_p50: baseline":        "budget.yaml:2: latency_p50: \"baseline\": of latencies nothing under baseline + 2 %",
		"a: &a\n  top1: 1\nlimits: *a":            "budget.yaml:1: unknown field",
		"limits: &a\n  top1: 1\nbaseline: *a":     "budget.yaml:3: want a field with a value",
		"limits:\n  latency_p50: 'baseline - 5%'": "nothing under baseline + 2 %",
		"limits:\n  top1: 1\n---\nlimits:\n":      "more than one document",
		"limits: [":                               "budget.yaml: yaml: line 1",
	} {
		if _, err := Read(strings.NewReader(text), "budget.yaml"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := Read(strings.NewReader("limits:\n  top1: 1\n"+strings.Repeat("#\n", MaxBytes)), "b"); err == nil {
		t.Error("a file that is too large is read")
	}
}

// TestLimits reads every form of a limit.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		metric, text string
		baseline     float64
		want         float64
	}{
		{"latency_p50", "2.5 ms", 0, 2.5},
		{"latency_p50", "2500us", 0, 2.5},
		{"latency_p99", "baseline + 5 %", 2, 2.1},
		{"latency_p99", "baseline+0.5ms", 2, 2.5},
		{"top1", "97 %", 0, 0.97},
		{"top1", "0.97", 0, 0.97},
		{"top1", "baseline - 0.5 %", 0.9, 0.895},
		{"sqnr", "baseline - 1 dB", 30, 29},
		{"sqnr", "30", 0, 30},
		{"arena", "1.5 MiB", 0, 1.5 * (1 << 20)},
		{"arena", "baseline", 100, 100},
		{"weights", "baseline - 10 %", 100, 90},
		{"launches", "baseline + 2", 28, 30},
	} {
		l, err := parseLimit(named(c.metric), c.text)
		if err != nil || math.Abs(l.at(c.baseline)-c.want) > 1e-9 {
			t.Errorf("%s: %s is %g (%v), want %g", c.metric, c.text, l.at(c.baseline), err, c.want)
		}
	}
}

// measured returns an engine of so many milliseconds in each round.
func measured(rounds ...float64) *Measured {
	m := &Measured{Snapshot: &report.Snapshot{
		Timings:  &report.Timings{EndToEnd: report.Latency{Count: 1, Median: time.Millisecond, P99: time.Millisecond}},
		Memory:   &report.Memory{MemoryNumbers: report.MemoryNumbers{Peak: 1000}},
		Accuracy: &report.Accuracy{Labels: report.LabelAccuracy{Top1: 0.9, Top5: -1, Agreement: 0.99}, Outputs: []report.OutputError{{Errors: report.Errors{SQNR: 31}}}},
	}, EngineBytes: 5000}
	for _, r := range rounds {
		d := time.Duration(r * float64(time.Millisecond))
		m.Timings.Rounds = append(m.Timings.Rounds, report.Round{Median: d, P99: 2 * d})
	}
	return m
}

// TestCheck holds figures without noise to their limits, to the digit.
func TestCheck(t *testing.T) {
	for text, want := range map[string]report.Verdict{
		"top1: 90 %": report.CheckOK, "top1: 90.01 %": report.CheckFailed, "top5: 1 %": report.CheckUnknown,
		"sqnr: 31 dB": report.CheckOK, "sqnr: 31.1 dB": report.CheckFailed, "arena: 1000 B": report.CheckOK, "arena: 999 B": report.CheckFailed,
		"engine_file: 5000 B": report.CheckOK, "launches: 3": report.CheckUnknown, "arena: baseline": report.CheckOK, "arena: baseline - 1 %": report.CheckFailed,
		"latency_p50: 1 ms": report.CheckOK, "latency_p50: 0.99 ms": report.CheckFailed,
	} {
		c, err := read(t, "limits:\n  "+text).Check(measured(), measured(), nil)
		if err != nil || c.Rows[0].Verdict != want || c.Passed != want.Passes() {
			t.Errorf("%s: %+v, %v, want %s", text, c, err, want)
		}
	}
	if _, err := read(t, "limits:\n  arena: baseline").Check(measured(), nil, nil); err == nil {
		t.Error("a limit relative to nothing is checked")
	}
}

// TestUnknown gives as the reason what is missing: a figure of the engine before one of its baseline.
func TestUnknown(t *testing.T) {
	known, bare := measured(), measured()
	bare.Accuracy = nil
	for _, c := range []struct {
		own, baseline *Measured
		want          string
	}{{bare, bare, "it needs data"}, {bare, known, "it needs data"}, {known, bare, "not known of the baseline"}} {
		check, err := read(t, "baseline: main.engine\nlimits:\n  top1: baseline - 1 %").Check(c.own, c.baseline, nil)
		if err != nil {
			t.Fatal(err)
		}
		if row := check.Rows[0]; row.Verdict != report.CheckUnknown || check.Passed || !strings.Contains(row.Why, c.want) {
			t.Errorf("%+v, want %q", row, c.want)
		}
	}
}

// noise returns times of rounds around a median as a shared machine gives them: they vary by a few percent, drift together, and now
// and then something else runs, for both or for one.
func noise(r *rand.Rand, rounds int, slower float64) (own, base []float64) {
	drift := 1.0
	for range rounds {
		drift *= math.Exp(0.05 * r.NormFloat64())
		busy := 1.0
		if r.Float64() < 0.2 {
			busy += 2 * r.Float64()
		}
		one := func() float64 {
			v := drift * busy * math.Exp(0.02*r.NormFloat64())
			if r.Float64() < 0.1 {
				v *= 1 + r.Float64()
			}
			return v
		}
		own, base = append(own, slower*one()), append(base, one())
	}
	return own, base
}

// TestNoise fails on engines that are 10 % slower where 5 % are allowed, nearly always, and next to never on the same engine, or on
// one that is at the limit, on a machine that is as disturbed.
func TestNoise(t *testing.T) {
	b := read(t, "limits:\n  latency_p50: baseline + 5 %\n")
	const runs = 2000
	for _, c := range []struct {
		slower      float64
		least, most float64 // share of runs that fail
	}{{1, 0, 0.0005}, {1.05, 0, 0.01}, {1.10, 0.97, 1}, {1.15, 0.999, 1}, {0.8, 0, 0}} {
		r, failed := rand.New(rand.NewPCG(7, uint64(c.slower*100))), 0
		for range runs {
			own, base := noise(r, Rounds, c.slower)
			check, err := b.Check(measured(own...), measured(base...), nil)
			if err != nil || !check.Beside {
				t.Fatalf("%+v, %v", check, err)
			}
			if !check.Passed {
				failed++
			}
		}
		if share := float64(failed) / runs; share < c.least || share > c.most {
			t.Errorf("%g times as long: %.2f %% of the runs fail, want %g to %g", c.slower, 100*share, 100*c.least, 100*c.most)
		} else {
			t.Logf("%g times as long: %.2f %% of the runs fail", c.slower, 100*share)
		}
	}
}

// loaded returns times of rounds on a machine that others use more than this: they vary by a tenth, and every third is disturbed in one of
// the two alone.
func loaded(r *rand.Rand, rounds int, slower float64) (own, base []float64) {
	for range rounds {
		busy := 1 + 2*r.Float64()
		one := func() float64 {
			v := busy * math.Exp(0.1*r.NormFloat64())
			if r.Float64() < 0.3 {
				v *= 1 + 2*r.Float64()
			}
			return v
		}
		own, base = append(own, slower*one()), append(base, one())
	}
	return own, base
}

// TestMore goes on measuring a loaded machine as long as rounds do not tell: a tenth more is told from a twentieth, where the first
// rounds alone seldom do, and the same engine, and one at the limit, fail as seldom as they did at one look.
func TestMore(t *testing.T) {
	b := read(t, "limits:\n  latency_p50: baseline + 5 %\n")
	const runs, first, longest = 400, 3 * time.Second, 100 * time.Second
	b.Looks = Looks(first, longest)
	for _, c := range []struct {
		slower      float64
		least, most float64 // share of runs that fail
		once        float64 // at most, by the first rounds alone
	}{{1, 0, 0, 0}, {1.05, 0, 0.01, 0.01}, {1.10, 0.7, 1, 0.2}, {1.15, 0.98, 1, 0.5}} {
		r, failed, once, total := rand.New(rand.NewPCG(9, uint64(c.slower*100))), 0, 0, 0
		for range runs {
			own, base := loaded(r, Rounds, c.slower)
			check := func() bool {
				c, err := b.Check(measured(own...), measured(base...), nil)
				if err != nil {
					t.Fatal(err)
				}
				return !c.Passed
			}
			if check() {
				once++
			}
			for {
				took := first * time.Duration(len(own)) / Rounds
				n := b.More(measured(own...), measured(base...), took, longest)
				if n == 0 {
					break
				}
				o, p := loaded(r, n, c.slower)
				own, base = append(own, o...), append(base, p...)
			}
			if check() {
				failed++
			}
			if total += len(own); first*time.Duration(len(own))/Rounds > longest {
				t.Fatalf("%d rounds take longer than %s", len(own), longest)
			}
		}
		share := float64(failed) / runs
		if text := fmt.Sprintf("%g times as long: %.2f %% of the runs fail, %.2f %% at the first look; %d rounds a run", c.slower, 100*share, 100*float64(once)/runs, total/runs); share < c.least || share > c.most || float64(once)/runs > c.once {
			t.Error(text)
		} else {
			t.Log(text)
		}
	}
}

// TestTelling says how many rounds would tell, as the square of how far the interval reaches over how far the median is off.
func TestTelling(t *testing.T) {
	row := func(limit string) report.CheckRow {
		var rounds []float64
		for i := range 45 {
			rounds = append(rounds, 1+float64(i)/100)
		}
		c, err := read(t, "limits:\n  latency_p50: "+limit).Check(measured(rounds...), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return c.Rows[0]
	}
	for limit, want := range map[string]int{"1.2 ms": 912, "1.19 ms": 406, "1.24 ms": 912, "1.22 ms": 0, "1.05 ms": 0, "2 ms": 0} {
		if r := row(limit); r.Telling != want || (r.Why == "") != (limit == "1.05 ms" || limit == "2 ms") {
			t.Errorf("%s: %d rounds would tell, %q: %+v", limit, r.Telling, r.Why, r)
		}
	}
}

// TestDecide knows noise from a time over the limit, and lets the median decide where there are too few rounds.
func TestDecide(t *testing.T) {
	rounds := []float64{1, 1, 1, 1, 1, 1, 1, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2}
	for _, c := range []struct {
		values []float64
		limit  float64
		want   report.Verdict
	}{
		{rounds, 1.3, report.CheckOK}, {rounds, 1.1, report.CheckNoise}, {rounds, 0.99, report.CheckFailed},
		{rounds[:1], 0.99, report.CheckFailed}, {rounds[:1], 1, report.CheckOK}, {slices.Repeat([]float64{2}, 15), 1.9, report.CheckFailed},
	} {
		if d := decide(c.values, c.limit, 1, compare.MedianIntervalAt); d.verdict != c.want {
			t.Errorf("%v against %g: %+v, want %s", c.values, c.limit, d, c.want)
		}
	}
}

// TestTop1BesideBaseline: an engine that loses two of 200 answers to the baseline passes as noise, one that loses twelve fails, and where
// the answers are not known the figures decide.
func TestTop1BesideBaseline(t *testing.T) {
	measured := func(wrong int, known bool) *Measured {
		l := report.LabelAccuracy{Top1: float64(200-wrong) / 200}
		var a report.Answers
		for i := range 200 {
			a.Add(i >= wrong, true)
		}
		if known {
			l.Answers = &a
		}
		return &Measured{Snapshot: &report.Snapshot{Accuracy: &report.Accuracy{Labels: l}}}
	}
	l, err := parseLimit(named("top1"), "baseline")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		wrong int
		known bool
		want  report.Verdict
	}{{0, true, report.CheckOK}, {2, true, report.CheckNoise}, {12, true, report.CheckFailed}, {2, false, report.CheckFailed}} {
		if row := l.check(measured(c.wrong, c.known), measured(0, true), false, 1); row.Verdict != c.want || c.want == report.CheckNoise && row.Why == "" {
			t.Errorf("%+v: %s, %q", c, row.Verdict, row.Why)
		}
	}
}

// TestNoisePasses: what is over by no more than noise passes unless the budget wants more.
func TestNoisePasses(t *testing.T) {
	rounds := slices.Repeat([]float64{1, 1.11, 1.2}, 15)
	for text, want := range map[string]report.Verdict{
		"": report.CheckNoise, "noise: passes\n": report.CheckNoise, "noise: unknown\n": report.CheckUnknown,
	} {
		c, err := read(t, text+"limits:\n  latency_p50: 1100 us\n").Check(measured(rounds...), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if row := c.Rows[0]; row.Verdict != want || row.Why == "" || c.Passed != want.Passes() {
			t.Errorf("%q: %s, %q, passed %v", text, row.Verdict, row.Why, c.Passed)
		}
	}
}

// TestUnlikeOutputs: where an output cannot be compared on any item the least of all is not known, however good the others are.
func TestUnlikeOutputs(t *testing.T) {
	a := &report.Accuracy{
		Outputs: []report.OutputError{{Errors: report.Errors{SQNR: 40, Cosine: 1}}},
		Unlike:  []report.UnlikeOutput{{Name: "boxes", Items: 7, OfItems: 8}},
	}
	m := &Measured{Snapshot: &report.Snapshot{Accuracy: a}}
	if v, ok := sqnr(m); !ok || v != 40 {
		t.Errorf("compared on one item: %v, known %v", v, ok)
	}
	a.Unlike[0].Items = 8
	for name, of := range map[string]func(*Measured) (float64, bool){"sqnr": sqnr, "cosine": cosine} {
		if v, ok := of(m); ok {
			t.Errorf("%s of an output that is compared on no item is %v", name, v)
		}
	}
}
