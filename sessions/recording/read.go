package recording

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// read reads a snapshot; f.readMu is held.
func (f *film) read(ctx context.Context, seq int) (*report.Snapshot, error) {
	var text string
	var logged int64
	query := "SELECT substr(state, 1, ?), log FROM snapshots WHERE seq = ?"
	if err := f.file.conn.QueryRowContext(ctx, query, maxStateBytes, seq).Scan(&text, &logged); err != nil {
		return nil, err
	}
	if err := checkReport([]byte(text)); err != nil {
		return nil, err
	}
	var s state
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return nil, err
	}
	snap := &report.Snapshot{
		Seq: s.Seq, Schema: s.Schema, Config: s.Config, Device: s.Device, Stale: s.Stale, Preview: s.Preview, Busy: s.Busy, Err: s.Err,
		Telemetry: s.Telemetry, Replay: f.file.path,
	}
	ids, err := f.shown(ctx, seq)
	if err != nil {
		return nil, err
	}
	for i, p := range report.Kinds() {
		id, ok := ids[p.Name]
		if !ok {
			continue
		}
		report, err := f.report(ctx, i, id)
		if err != nil {
			return nil, fmt.Errorf("%s report: %w", p.Name, err)
		}
		p.Set(snap, report)
	}
	snap.Log, err = f.log(ctx, logged)
	return snap, err
}

// shown returns the rows of a snapshot's reports by their names. Names that this program does not have are those of parts that
// another one knows.
func (f *film) shown(ctx context.Context, seq int) (map[string]int64, error) {
	rows, err := f.file.conn.QueryContext(ctx, "SELECT substr(part, 1, 64), report FROM shown WHERE seq = ? LIMIT ?", seq, maxParts)
	if err != nil {
		return nil, err
	}
	ids := map[string]int64{}
	_, err = scanAll(rows, func(scan func(...any) error) (struct{}, error) {
		var name string
		var id int64
		err := scan(&name, &id)
		ids[name] = id
		return struct{}{}, err
	})
	return ids, err
}

// report reads a report, or returns the one that was read last.
func (f *film) report(ctx context.Context, i int, id int64) (any, error) {
	if f.reports[i].id == id && f.reports[i].report != nil {
		return f.reports[i].report, nil
	}
	var packed []byte
	if err := f.file.conn.QueryRowContext(ctx, "SELECT json FROM reports WHERE id = ? AND part = ?", id, report.Kinds()[i].Name).Scan(&packed); err != nil {
		return nil, err
	}
	read := report.Kinds()[i].New()
	if err := decodeReport(packed, read); err != nil {
		return nil, err
	}
	rate(read)
	f.reports[i] = readReport{id, read}
	return read, nil
}

// rate computes the throughputs of a report anew, as those of the median: older programs took the mean, so that one recording could
// not be compared with another.
func rate(read any) {
	switch r := read.(type) {
	case *report.Overview:
		if !r.Overlapped && r.Latency.Median > 0 {
			r.Throughput = r.Latency.Rate(r.Batch)
		}
	case *report.Generation:
		if r.PerToken.Median > 0 {
			r.Rate = r.PerToken.Rate(1)
		}
	case *report.Runtime:
		lists := [][]report.SweepPoint{r.Points}
		for _, a := range r.Axes {
			lists = append(lists, a.Curve)
		}
		for _, g := range r.Grids {
			lists = append(lists, g.Points)
		}
		for _, of := range r.Others {
			lists = append(lists, of.Points)
		}
		for _, list := range lists {
			for i := range list {
				list[i].Throughput = list[i].Latency.Rate(list[i].Batch)
			}
		}
	}
}

// log reads the lines that a snapshot shows, which end with the given one.
func (f *film) log(ctx context.Context, last int64) ([]report.LogLine, error) {
	rows, err := f.file.conn.QueryContext(ctx, `SELECT substr(time, 1, 64), substr(level, 1, 64), coalesce(substr(layer, 1, 4096), ''), substr(text, 1, 65536)
		FROM log WHERE id <= ? ORDER BY id DESC LIMIT ?`, last, maxLogLines)
	if err != nil {
		return nil, err
	}
	lines, err := scanAll(rows, func(scan func(...any) error) (l report.LogLine, err error) {
		var at string
		if err = scan(&at, &l.Level, &l.Layer, &l.Text); err != nil {
			return l, err
		}
		l.Time, err = time.Parse(time.RFC3339Nano, at)
		return l, err
	})
	slices.Reverse(lines)
	return lines, err
}
