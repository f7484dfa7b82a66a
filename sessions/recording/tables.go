package recording

import "github.com/trtui/trtui/sessions/report"

// describe fills in the session's row, once the model is known, and again if it changes.
func (w *writer) describe(s *report.Snapshot) error {
	m, d := s.Model, s.Device
	if m == nil || w.model == m.SHA256+m.Path {
		return nil
	}
	w.model = m.SHA256 + m.Path
	return w.exec(`UPDATE session SET model = ?, model_path = ?, model_kind = ?, model_bytes = ?, model_sha256 = ?,
		data = ?, data_items = ?, data_labelled = ?, data_random = ?, calibration_items = ?,
		backend = ?, device = ?, threads = ?, fingerprint = ?, estimated = ?`,
		m.Name, m.Path, m.Kind, m.Bytes, m.SHA256, m.Data, m.Items, m.Labelled, m.Random, m.CalItems,
		d.Backend, d.Device, d.Threads, d.Fingerprint, d.Estimated)
}

// tabled has the parts that queries find in tables too, beside their JSON: the tables, which have a column config, and what
// makes the rows of a configuration.
var tabled = map[report.Part]struct {
	tables []string
	write  func(w *writer, config int64, s *report.Snapshot) error
}{
	report.PartPasses:      {[]string{"passes", "sites", "ledger"}, (*writer).passes},
	report.PartTimings:     {[]string{"timings"}, (*writer).timings},
	report.PartMemory:      {[]string{"memory", "slots"}, (*writer).memory},
	report.PartCalibration: {[]string{"ranges"}, (*writer).ranges},
	report.PartAccuracy:    {[]string{"accuracy", "errors"}, (*writer).accuracy},
	report.PartTactics:     {[]string{"tactics"}, (*writer).tactics},
}

// fill makes a configuration's tables of one part anew.
func (w *writer) fill(config int64, part report.Part, s *report.Snapshot) error {
	t, ok := tabled[part]
	if !ok {
		return nil
	}
	for _, name := range t.tables {
		if err := w.exec("DELETE FROM "+name+" WHERE config = ?", config); err != nil {
			return err
		}
	}
	return t.write(w, config, s)
}

func (w *writer) passes(config int64, snap *report.Snapshot) error {
	p := snap.Passes
	for i, st := range p.Steps {
		if err := w.insert("passes", config, i+1, st.Pass, st.Layers, int64(st.Elapsed)); err != nil {
			return err
		}
		for _, f := range st.Fired {
			if err := w.insert("sites", config, i+1, f.Rule, f.Site, 1, null(f.Into), f.KernelsSaved, f.BytesSaved, nil, nil); err != nil {
				return err
			}
		}
		for _, m := range st.Missed {
			if err := w.insert("sites", config, i+1, m.Rule, m.Site, 0, nil, nil, nil, m.Reason, null(m.Detail)); err != nil {
				return err
			}
		}
	}
	for _, e := range p.Ledger {
		if err := w.insert("ledger", config, e.Layer, e.Op, e.Fate, null(e.Into), null(e.Pass)); err != nil {
			return err
		}
	}
	return nil
}

// timings writes a row for the whole and one for each step.
func (w *writer) timings(config int64, snap *report.Snapshot) error {
	t := snap.Timings
	row := func(step int, layer string, op, precision, tactic, reformat any, l report.Latency, share, flops, bytes any) error {
		return w.insert("timings", config, step, layer, op, precision, tactic, reformat, l.Count,
			int64(l.Mean), int64(l.Median), int64(l.Min), int64(l.Max), int64(l.P90), int64(l.P95), int64(l.P99), l.CV,
			share, flops, bytes)
	}
	if err := row(-1, "end to end", nil, nil, nil, nil, t.EndToEnd, nil, nil, nil); err != nil {
		return err
	}
	for i, l := range t.Layers {
		if err := row(i, l.Name, l.Op, l.Precision, l.Tactic, l.Reformat, l.Latency, l.Share, l.FLOPs, l.Bytes); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) memory(config int64, snap *report.Snapshot) error {
	m := snap.Memory
	if err := w.insert("memory", config, m.Peak, m.Naive, m.LowerBound, m.IO, m.Workspace, m.Weights, m.PeakStep); err != nil {
		return err
	}
	for i, s := range m.Slots {
		if err := w.insert("slots", config, i, s.Tensor, s.Desc, s.Offset, s.Bytes, s.First, s.Last, s.IO, s.Kind, null(s.Of)); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) ranges(config int64, snap *report.Snapshot) error {
	c := snap.Calibration
	for _, t := range c.Tensors {
		for i, r := range t.By {
			err := w.insert("ranges", config, t.Tensor, null(t.Layer), c.Calibrators[i], t.Used, t.Min, t.Max, t.Mean, t.Std,
				r.Amax, r.Scale, r.Zero, r.Clip, r.KL, r.SQNR)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *writer) accuracy(config int64, snap *report.Snapshot) error {
	a := snap.Accuracy
	share := func(v float64) any {
		if v < 0 {
			return nil
		}
		return v
	}
	l := a.Labels
	err := w.insert("accuracy", config, a.Items, share(l.Top1), share(l.Top5), share(l.FP32Top1), share(l.FP32Top5),
		share(l.Agreement), a.Tolerance, null(a.FirstBad))
	if err != nil {
		return err
	}
	row := func(kind, name string, precision, tensor any, e report.Errors) error {
		return w.insert("errors", config, kind, name, precision, tensor,
			e.MaxAbs, e.MeanAbs, e.MedianAbs, e.MaxRel, e.MeanRel, e.L2, e.Cosine, e.SQNR, e.PSNR)
	}
	for _, o := range a.Outputs {
		if err := row("output", o.Name, nil, o.Name, o.Errors); err != nil {
			return err
		}
	}
	for _, e := range a.Layers {
		if err := row("accumulated", e.Name, e.Precision, e.Tensor, e.Accumulated); err != nil {
			return err
		}
		if err := row("local", e.Name, e.Precision, e.Tensor, e.Local); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) tactics(config int64, snap *report.Snapshot) error {
	t := snap.Tactics
	for _, l := range t.Layers {
		for _, c := range l.Candidates {
			var timed any
			if c.Timed {
				timed = int64(c.Time)
			}
			if err := w.insert("tactics", config, l.Layer, l.Op, c.Tactic, null(c.Format), timed, c.Chosen, null(c.Remark())); err != nil {
				return err
			}
		}
	}
	return nil
}
