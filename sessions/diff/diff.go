package diff

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// Side is one of two things that are compared.
type Side struct {
	Name     string // what a person calls it
	Snapshot *report.Snapshot
	Rival    *report.Snapshot // in whose rounds the times were measured, beside it: Timings.Beside is of the two; nil: of none
}

// Of says what b changes of a. Both need times of layers.
func Of(a, b Side) (*report.Diff, error) {
	for _, s := range []Side{a, b} {
		if t := s.Snapshot.Timings; t == nil || s.Snapshot.Stale.Has(report.PartTimings) {
			return nil, fmt.Errorf("%s: its times are not known", s.Name)
		}
	}
	d := &report.Diff{A: side(a), B: side(b), Discoveries: Discoveries}
	d.EndToEnd = total(a, b)
	scale(&d.A, d.EndToEnd.A)
	scale(&d.B, d.EndToEnd.B)
	ta, tb := a.Snapshot.Timings, b.Snapshot.Timings
	tables := uTables{}
	var known []*evidence // by group
	for _, g := range groupsOf(a.Snapshot, b.Snapshot) {
		c := change(g, a.Snapshot, b.Snapshot, tables)
		known = append(known, evidenceOf(pick(ta.Layers, g.A), pick(tb.Layers, g.B)))
		if ta.SumMedian > 0 {
			c.Share = float64(c.Delta) / float64(ta.SumMedian)
		}
		d.Medians += c.Delta
		d.Groups = append(d.Groups, c)
	}
	d.Between = tb.Gap - ta.Gap
	d.Layers = d.EndToEnd.Delta - d.Between
	j := newJudge(d.Groups, known, alike(a.Snapshot, b.Snapshot), d.InTurns())
	if j.verdicts(ta.Estimated && tb.Estimated) {
		d.Told = j.told(d.A.Sum)
	}
	if sameWork(a.Snapshot, b.Snapshot) {
		d.Common = j.common()
	}
	slices.SortStableFunc(d.Groups, func(x, y report.LayerChange) int { return cmp.Compare(abs(y.Delta), abs(x.Delta)) })
	d.Rounds = min(roundsOf(ta.Layers), roundsOf(tb.Layers))
	d.AddedSources, d.RemovedSources = sources(a.Snapshot, b.Snapshot, d.Groups)
	d.ChangedSources = changedSources(a.Snapshot, b.Snapshot)
	d.Notes = slices.Concat(notesOnData(a, b), notes(d), notesOnShapes(a, b), notesOnFiles(a, b, d.Alike() > 0))
	return d, nil
}

// groupsOf aligns the layers of two sides.
func groupsOf(a, b *report.Snapshot) []Group {
	sa, sb := StepsOf(a.Timings.Layers), StepsOf(b.Timings.Layers)
	completeReformats(a.Timings.Layers, b.Timings.Layers, sa, sb)
	completeReformats(b.Timings.Layers, a.Timings.Layers, sb, sa)
	groups := Align(sa, sb)
	whats(a, sa)
	whats(b, sb)
	return alignAlike(groups, sa, sb)
}

// completeReformats takes what a side does not tell of its reformats, as a profile alone, from the other side's of the same names.
func completeReformats(of, from []report.LayerTiming, steps, known []Step) {
	reformats := map[string]bool{}
	for i := range from {
		reformats[from[i].Name] = known[i].Reformat
	}
	for i := range of {
		if of[i].Op == "?" && reformats[of[i].Name] {
			steps[i].Reformat = true
		}
	}
}

// StepsOf returns what alignment knows of layers. A layer of which no source is known stands for itself.
func StepsOf(layers []report.LayerTiming) []Step {
	list := make([]Step, len(layers))
	for i, l := range layers {
		list[i] = Step{From: l.From, Reformat: l.Reformat || l.Op == "Reformat", Name: l.Name}
		if len(l.From) == 0 {
			list[i].From = report.Members(l.Name)
		}
	}
	return list
}

func side(s Side) report.DiffSide {
	snap := s.Snapshot
	d := report.DiffSide{Name: s.Name, Device: snap.Device, Samples: snap.Timings.Samples, Sum: snap.Timings.SumMedian, Steps: len(snap.Timings.Layers)}
	d.Point, _ = report.PointOf(snap)
	if snap.Final != nil {
		d.Point.Know(snap.Final)
	}
	if m := snap.Model; m != nil {
		d.Model, d.SHA256 = m.Name, m.SHA256
	}
	d.Label = snap.Config.Label(quantized(snap))
	if snap.Memory != nil && !snap.Stale.Has(report.PartMemory) {
		d.Memory = &snap.Memory.MemoryNumbers
	}
	d.Random, d.RandomRanges = random(snap)
	if o := snap.Overview; o != nil && o.Contents != nil {
		d.File = o.Contents.Bytes
	}
	return d
}

// total compares the latencies of two sides: by rounds that both were measured in, where they are rivals or of one session, and else
// by each one's samples. What they take is then that of these rounds, too.
func total(a, b Side) report.TimeChange {
	ta, tb := a.Snapshot.Timings, b.Snapshot.Timings
	c := report.TimeChange{A: ta.EndToEnd.Median, B: tb.EndToEnd.Median}
	c.Delta = c.B - c.A
	if speed := rivals(a, b); speed != nil {
		c.Speed = *speed
		return c
	}
	ma, mb := ta.Measured(a.Snapshot.Config), tb.Measured(b.Snapshot.Config)
	ma.Estimated, mb.Estimated = ta.Estimated && tb.Estimated, ta.Estimated && tb.Estimated
	own := quantized(a.Snapshot)
	if !oneSession(a, b) || a.Snapshot.Config.SameEngine(b.Snapshot.Config, own) {
		ma.Beside, mb.Beside = nil, nil
		if !ma.Estimated {
			c.Speed = mb.Interval().Over(ma.Interval())
			return c
		}
	}
	inTurns := a.Rival != nil && a.Rival == b.Rival
	if c.Speed = mb.Over(ma, own); c.SideBySide && !inTurns && !ma.Estimated {
		c.LayersApart = true
		took := report.OnOneScale([]report.Measured{ma, mb}, own)
		c.A, c.B = took[0], took[1]
		c.Delta = c.B - c.A
	}
	return c
}

// oneSession reports whether two sides are of one session, in which each may have been measured beside another configuration.
func oneSession(a, b Side) bool {
	return a.Snapshot.Replay == b.Snapshot.Replay && sum(a.Snapshot) == sum(b.Snapshot)
}

// scale gives a side the latency of rounds side by side where that is another one than its own samples have.
func scale(s *report.DiffSide, took time.Duration) {
	if s.Latency != took {
		s.Latency, s.Low, s.High = took, 0, 0
	}
}

// rivals returns how fast b is beside a where the two were measured in the same rounds; nil where they were not.
func rivals(a, b Side) *report.Speed {
	switch beside := [2]*report.Beside{a.Snapshot.Timings.Beside, b.Snapshot.Timings.Beside}; {
	case b.Rival == a.Snapshot && beside[1] != nil:
		return &beside[1].Speed
	case a.Rival == b.Snapshot && beside[0] != nil:
		speed := beside[0].Inverse()
		return &speed
	}
	return nil
}

func sum(s *report.Snapshot) string {
	if s.Model == nil {
		return ""
	}
	return s.Model.SHA256
}

// quantized reports whether the model brings quantisation of its own.
func quantized(s *report.Snapshot) bool {
	return s.Model != nil && s.Model.Ops["QuantizeLinear"]+s.Model.Ops["DequantizeLinear"] > 0
}

// change sums up what a group is on both sides.
func change(g Group, a, b *report.Snapshot, tables uTables) report.LayerChange {
	c := report.LayerChange{From: g.From, Alike: g.Alike, A: layers(a, g.A), B: layers(b, g.B)}
	var ta, tb time.Duration
	for _, l := range c.A {
		ta += l.Time
	}
	for _, l := range c.B {
		tb += l.Time
	}
	c.Delta, c.Kind = tb-ta, kind(c.A, c.B)
	if tick := max(a.Timings.Tick, b.Timings.Tick); tick > 0 { // a median that lies between two steps falls on either
		c.Least = 2 * tick
	}
	x, y := c.Names()
	c.Name = cmp.Or(y, x)
	if ta > 0 && tb > 0 {
		c.Ratio = float64(tb) / float64(ta)
	}
	if len(g.A) > 0 && len(g.B) > 0 {
		if p, ok := tables.mannWhitney(rounds(pick(a.Timings.Layers, g.A)), rounds(pick(b.Timings.Layers, g.B))); ok {
			c.P = &p
		}
	}
	return c
}

func layers(s *report.Snapshot, steps []int) []report.LayerSide {
	var list []report.LayerSide
	for _, i := range steps {
		l := &s.Timings.Layers[i]
		side := report.LayerSide{Layer: l.Name, Step: i, Op: l.Op, Precision: l.Precision, Tactic: l.Tactic, Reformat: l.Reformat, Time: l.Median, Bytes: l.Bytes}
		if acc := s.Accuracy; acc != nil && !s.Stale.Has(report.PartAccuracy) && !l.Reformat {
			if k := slices.IndexFunc(acc.Layers, func(e report.LayerError) bool { return e.Name == l.Name }); k >= 0 {
				side.SQNR = &acc.Layers[k].Accumulated.SQNR
			}
		}
		list = append(list, side)
	}
	return list
}

// kind says how the layers of a group differ.
func kind(a, b []report.LayerSide) string {
	switch {
	case len(a) == 0:
		return report.KindAdded
	case len(b) == 0:
		return report.KindRemoved
	case len(a) > 1 && len(b) > 1:
		same := func(x, y report.LayerSide) bool {
			return x.Layer == y.Layer && x.Precision == y.Precision && x.Tactic == y.Tactic
		}
		if slices.EqualFunc(a, b, same) {
			return report.KindSame
		}
		return report.KindFused
	case len(b) > 1:
		return report.KindSplit
	case len(a) > 1:
		return report.KindMerged
	case differ(a[0].Precision, b[0].Precision):
		return report.KindTyped
	case differ(a[0].Tactic, b[0].Tactic):
		return report.KindTactic
	}
	return report.KindSame
}

// differ reports whether two names are known, and not the same: files of other programs do not tell all.
func differ(a, b string) bool { return a != b && a != "" && a != "?" && b != "" && b != "?" }

func pick(layers []report.LayerTiming, steps []int) []*report.LayerTiming {
	list := make([]*report.LayerTiming, len(steps))
	for k, i := range steps {
		list[k] = &layers[i]
	}
	return list
}

// rounds returns what the steps of a group take together in each round. Samples that are not cut into rounds, as in recordings of
// older programs, are as they come: what a report has of them are the newest.
func rounds(steps []*report.LayerTiming) []time.Duration {
	var sum []time.Duration
	for k, l := range steps {
		list := l.Rounds
		if len(list) == 0 {
			list = thirds(l.Recent)
		}
		if k == 0 {
			sum = slices.Clone(list)
			continue
		}
		sum = sum[:min(len(sum), len(list))]
		for j := range sum {
			sum[j] += list[j]
		}
	}
	return sum
}

// thirds returns the medians of three samples each: what disturbs one often disturbs the next.
func thirds(samples []time.Duration) []time.Duration {
	var list []time.Duration
	for ; len(samples) >= 3; samples = samples[3:] {
		three := slices.Sorted(slices.Values(samples[:3]))
		list = append(list, three[1])
	}
	return list
}

// notes says what to know before one reads a difference of times.
func notes(d *report.Diff) (list []string) {
	a, b := &d.A, &d.B
	switch alike := d.Alike(); {
	case alike > 0:
		list = append(list, fmt.Sprintf("few layers have names in common: %d of %d groups are aligned by op, window and shape, in their order", alike, len(d.Groups)))
	case a.SHA256 != "" && b.SHA256 != "" && a.SHA256 != b.SHA256 && len(d.AddedSources)+len(d.RemovedSources) > 0:
		list = append(list, "the models are not the same: layers are aligned by the names of those that both have")
	}
	known := a.Device.Fingerprint != "" && b.Device.Fingerprint != "" // no file of another program tells
	if known && (a.Device.Fingerprint != b.Device.Fingerprint || a.Device.Threads != b.Device.Threads) {
		list = append(list, fmt.Sprintf("the devices are not the same: %s, and %s", device(a.Device), device(b.Device)))
	}
	if a.Estimated != b.Estimated {
		list = append(list, "one side's times are a cost model's, the other's were measured")
	}
	if d.Unsettled() && !(a.Estimated && b.Estimated) {
		more := "more rounds in turns would settle layers"
		if d.InTurns() {
			more = "more rounds would settle layers"
		}
		list = append(list, fmt.Sprintf("the latencies differ, and no single layer is told from noise in %d rounds: %s", d.Rounds, more))
	}
	if sure := sureChange(d.Groups); d.EndToEnd.Noise() && float64(abs(sure)) > (report.LeastRatio-1)*float64(d.EndToEnd.A) {
		list = append(list, fmt.Sprintf("layers that differ make %s in all, and the latencies vary by more than that: more rounds in turns would settle them", report.Duration(abs(sure))))
	}
	if !slices.ContainsFunc(d.Groups, func(c report.LayerChange) bool { return len(c.A) > 0 && len(c.B) > 0 }) && len(d.Groups) > 0 {
		list = append(list, "no layer of one side computes a source layer of the other")
	}
	return list
}

// random reports whether accuracy is of random input, and ranges are.
func random(s *report.Snapshot) (data, ranges bool) {
	if a := s.Accuracy; a != nil && !s.Stale.Has(report.PartAccuracy) {
		return a.Random, a.RandomRanges
	}
	return false, false
}

// notesOnData says of which sides the accuracy is not that of real inputs.
func notesOnData(sides ...Side) (list []string) {
	var data, ranges []string
	for i, s := range sides {
		letter := string(rune('A' + i))
		d, r := random(s.Snapshot)
		if d {
			data = append(data, letter)
		}
		if r {
			ranges = append(ranges, letter)
		}
	}
	if len(data) > 0 {
		list = append(list, "random input: accuracy of "+strings.Join(data, ", ")+" is not meaningful, only agreement is")
	}
	if len(ranges) > 0 {
		list = append(list, "random calibration: ranges of "+strings.Join(ranges, ", ")+" come from random input and say nothing about real inputs")
	}
	return list
}

// sureChange sums the changes up that are more than noise.
func sureChange(groups []report.LayerChange) (sum time.Duration) {
	for i := range groups {
		if groups[i].Significant {
			sum += groups[i].Delta
		}
	}
	return sum
}

// roundsOf returns how many rounds the times of layers are known of.
func roundsOf(layers []report.LayerTiming) int {
	most := 0
	for i := range layers {
		most = max(most, len(layers[i].Rounds))
	}
	return most
}

// notesOnShapes says that inferences of two sides are not the same work.
func notesOnShapes(a, b Side) []string {
	ta, tb, ca, cb := a.Snapshot.Timings, b.Snapshot.Timings, a.Snapshot.Config, b.Snapshot.Config
	switch {
	case ta.BatchItems > 0 && tb.BatchItems > 0 && ta.BatchItems != tb.BatchItems:
		each := func(t *report.Timings) string {
			return report.Duration(t.EndToEnd.Median / time.Duration(t.BatchItems))
		}
		return []string{fmt.Sprintf("an inference of A is of %d, of B of %d items: %s and %s for each item", ta.BatchItems, tb.BatchItems, each(ta), each(tb))}
	case len(ca.Shapes) > 0 && len(cb.Shapes) > 0 && !maps.EqualFunc(ca.Shapes, cb.Shapes, slices.Equal[[]int]):
		return []string{"the shapes are not the same: an inference of A is other work than one of B"}
	}
	return nil
}

// notesOnFiles says what is to be known of sides that are files of other programs; alike, that not names alone align their layers.
func notesOnFiles(a, b Side, alike bool) (list []string) {
	var files, named, summed []string
	for i, s := range []Side{a, b} {
		letter := string("AB"[i])
		if s.Snapshot.Viewed() == "" {
			continue
		}
		files = append(files, letter)
		if s.Snapshot.Model.ByName {
			named = append(named, letter+", "+s.Snapshot.Viewed()+",")
		}
		if s.Snapshot.Timings.Summed {
			summed = append(summed, letter)
		}
	}
	verb := func(names []string, one, more string) string {
		if len(names) == 1 {
			return names[0] + " " + one
		}
		return strings.Join(names, " and ") + " " + more
	}
	if len(named) > 0 && !alike {
		list = append(list, verb(named, "tells", "tell")+" no source layers: layers are aligned by their names")
	}
	if len(summed) > 0 {
		list = append(list, verb(summed, "has", "have")+" means and medians of layers, and no samples: noise cannot be told from change")
	}
	switch len(files) {
	case 1:
		list = append(list, files[0]+" does not say on which machine it was measured")
	case 2:
		list = append(list, "the files do not say on which machines they were measured")
	}
	return list
}

func device(d report.Device) string {
	switch {
	case d.Threads == 1:
		return d.Device + " with 1 thread"
	case d.Threads > 1:
		return fmt.Sprintf("%s with %d threads", d.Device, d.Threads)
	}
	return d.Device
}

func abs(d time.Duration) time.Duration { return max(d, -d) }

// alike reports whether nothing differs that all layers depend on: model, device, threads and shapes.
func alike(a, b *report.Snapshot) bool {
	x, y := a.Device, b.Device
	return a.Viewed() == "" && b.Viewed() == "" && x.Fingerprint == y.Fingerprint && x.Threads == y.Threads && sum(a) == sum(b) && sameWork(a, b)
}

// sameWork reports whether inferences of two sides are of the same extents: what all layers of others have in common is not the
// machine's.
func sameWork(a, b *report.Snapshot) bool {
	return a.Timings.BatchItems == b.Timings.BatchItems && a.Config.Batch == b.Config.Batch && maps.EqualFunc(a.Config.Shapes, b.Config.Shapes, slices.Equal[[]int])
}
