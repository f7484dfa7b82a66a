package report

// PointOf returns the configuration of a snapshot as a point; ok is false where it was neither timed nor compared with FP32, or
// the reports are not all of this configuration.
func PointOf(s *Snapshot) (p Point, ok bool) {
	p.Config = s.Config
	if a := s.Accuracy; a != nil && !s.Stale.Has(PartAccuracy) {
		p.accuracy(a)
		ok = true
	}
	if t := s.Timings; t != nil && !s.Stale.Has(PartTimings) {
		p.Latency, p.Low, p.High, p.Estimated, p.Beside = t.EndToEnd.Median, t.MedianLow, t.MedianHigh, t.Estimated, t.Beside
		ok = true
	}
	if m := s.Memory; m != nil && !s.Stale.Has(PartMemory) {
		p.Weights, p.Arena = m.Weights, m.Peak
	} else if o := s.Overview; o != nil && !s.Stale.Has(PartOverview) {
		p.Weights, p.Arena = o.Memory.Weights, o.Memory.Peak
	}
	return p, ok
}

func (p *Point) accuracy(a *Accuracy) {
	share := func(v float64) *float64 {
		if v < 0 {
			return nil
		}
		return &v
	}
	p.Items, p.Top1, p.Agreement, p.Perplexity = a.Items, share(a.Labels.Top1), share(a.Labels.Agreement), a.Labels.Perplexity
	if first := a.First(); first != nil {
		p.SQNR = &first.SQNR
	}
}
