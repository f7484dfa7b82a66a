package recording

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// index reads the configurations and what states there are.
func (f *film) index(ctx context.Context) error {
	c := &contents{writing: isHeld(f.file.lock)} // before the rest, so that nothing is missed
	err := c.fill(ctx, f)
	if err == nil {
		f.held.Store(c)
	}
	return err
}

// fill reads what an index has.
func (c *contents) fill(ctx context.Context, f *film) error {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	c.configs = map[int64]config.Config{}
	rows, err := f.file.conn.QueryContext(ctx, "SELECT id, substr(config, 1, 65536) FROM configs ORDER BY id LIMIT ?", maxConfigs)
	if err != nil {
		return err
	}
	_, err = scanAll(rows, func(scan func(...any) error) (struct{}, error) {
		var id int64
		var text string
		if err := scan(&id, &text); err != nil {
			return struct{}{}, err
		}
		var one config.Config
		err := json.Unmarshal([]byte(text), &one)
		c.configs[id] = one
		return struct{}{}, err
	})
	if err != nil {
		return err
	}
	rows, err = f.file.conn.QueryContext(ctx, "SELECT seq, substr(time, 1, 64), config, settled FROM snapshots ORDER BY seq LIMIT ?", maxStates)
	if err != nil {
		return err
	}
	c.steps, err = scanAll(rows, func(scan func(...any) error) (s step, err error) {
		var at string
		if err = scan(&s.Seq, &at, &s.config, &s.Settled); err != nil {
			return s, err
		}
		s.Config = c.configs[s.config]
		s.Time, err = time.Parse(time.RFC3339Nano, at)
		return s, err
	})
	if err == nil {
		err = f.file.conn.QueryRowContext(ctx, "SELECT count(*) = 0 FROM session WHERE ended <> ''").Scan(&c.cut)
	}
	if err == nil {
		err = c.begun(ctx, f.file)
	}
	if err == nil {
		c.own, err = f.file.quantized(ctx)
	}
	if err == nil {
		c.tried, err = f.file.configs(ctx, c.own)
	}
	if err == nil {
		err = c.timings(ctx, f)
	}
	if err == nil {
		err = c.aside(ctx, f)
	}
	return err
}

// maxTimingsRead is of how many configurations the times are compared by more than their medians.
const maxTimingsRead = 32

// timings reads the newest report of times of each configuration. One that cannot be read is left out: its state says why.
func (c *contents) timings(ctx context.Context, f *film) error {
	part := slices.IndexFunc(report.Kinds(), func(k report.Kind) bool { return k.Part == report.PartTimings })
	for i := range c.tried[:min(len(c.tried), maxTimingsRead)] {
		one := &c.tried[i]
		var id int64
		err := f.file.conn.QueryRowContext(ctx, "SELECT report FROM shown JOIN snapshots USING (seq) WHERE config = ? AND settled AND part = ? ORDER BY seq DESC LIMIT 1", one.ID, report.Kinds()[part].Name).Scan(&id)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			continue
		}
		if read, err := f.report(ctx, part, id); err == nil {
			whole := read.(*report.Timings)
			one.Timings = &report.Timings{EndToEnd: whole.EndToEnd, MedianLow: whole.MedianLow, MedianHigh: whole.MedianHigh, Beside: whole.Beside, Estimated: whole.Estimated}
		}
	}
	return nil
}

// begun counts the states' times from when the recording began.
func (c *contents) begun(ctx context.Context, f *file) error {
	var text, ended string
	if err := f.conn.QueryRowContext(ctx, "SELECT substr(started, 1, 64), coalesce(substr(ended, 1, 64), '') FROM session LIMIT 1").Scan(&text, &ended); err != nil {
		return err
	}
	start, err := time.Parse(time.RFC3339Nano, text)
	for i := range c.steps {
		c.steps[i].After = max(0, c.steps[i].Time.Sub(start))
	}
	if end, bad := time.Parse(time.RFC3339Nano, ended); bad == nil {
		c.lasted = end.Sub(start)
	}
	return err
}
