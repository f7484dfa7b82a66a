package recording

import (
	"context"
	"slices"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// maxBeside is of how many reports of configurations side by side what is in them is taken over, the newest.
const maxBeside = 32

// aside adds to what was tried what it came to beside others: configurations that were measured side by side alone, and of the
// rest what they lack. A report that cannot be read is left out: its state says why.
func (c *contents) aside(ctx context.Context, f *film) error {
	part := slices.IndexFunc(report.Kinds(), func(k report.Kind) bool { return k.Part == report.PartColumns })
	rows, err := f.file.conn.QueryContext(ctx, "SELECT DISTINCT report FROM shown WHERE part = ? ORDER BY report DESC LIMIT ?", report.Kinds()[part].Name, maxBeside)
	if err != nil {
		return err
	}
	ids, err := scanAll(rows, func(scan func(...any) error) (id int64, err error) { return id, scan(&id) })
	if err != nil {
		return err
	}
	for _, id := range slices.Backward(ids) {
		read, err := f.report(ctx, part, id)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if columns, ok := read.(*report.Columns); err == nil && ok && !columns.Live {
			c.tried = withColumns(c.tried, columns, c.own)
		}
	}
	configs := make([]config.Config, len(c.tried))
	for i := range c.tried {
		configs[i] = c.tried[i].Config
	}
	for i, name := range config.Labels(configs, c.own) {
		c.tried[i].Name = name
	}
	return nil
}

// withColumns adds what configurations came to side by side.
func withColumns(tried []report.RecordedConfig, c *report.Columns, own bool) []report.RecordedConfig {
	for i := range c.Columns {
		k := &c.Columns[i]
		if k.Err != "" || k.Latency.Median == 0 {
			continue
		}
		at := slices.IndexFunc(tried, func(t report.RecordedConfig) bool { return t.Config.SameEngine(k.Config, own) })
		if at < 0 {
			at = len(tried)
			tried = append(tried, report.RecordedConfig{Config: k.Config, Aside: true, Settled: true})
		}
		one := &tried[at]
		if one.Aside || one.Median == nil {
			one.Runs, one.Median, one.P99 = k.Latency.Count, &k.Latency.Median, &k.Latency.P99
			one.Timings = &report.Timings{EndToEnd: k.Latency, Estimated: c.Estimated}
		}
		if one.Runs == 0 {
			one.Runs = k.Latency.Count
		}
		if one.Timings != nil && one.Timings.Beside == nil && i > 0 && k.Speed != nil && c.Columns[0].Err == "" {
			timed := *one.Timings
			timed.Beside = &report.Beside{Config: c.Columns[0].Config, Speed: *k.Speed}
			one.Timings = &timed
		}
		one.Know(k.Point)
	}
	return tried
}
