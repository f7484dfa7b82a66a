package recording

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// commitPatience is how long a commit waits for those who read the file at the same time.
const commitPatience = time.Minute

// write writes what is pending in one transaction; last marks the recording as complete.
func (w *writer) write(p pending, last bool) (err error) {
	if err := w.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = w.exec("ROLLBACK") // the error that led here is the one to report
		}
	}()
	for _, m := range p.written() {
		if _, err := w.config(m.cfg, m.key, m.time); err != nil {
			return err
		}
	}
	for _, s := range p.settled {
		if err := w.snapshot(s); err != nil {
			return err
		}
	}
	for _, r := range p.runs {
		if err := w.run(r); err != nil {
			return err
		}
	}
	for _, t := range p.telemetry {
		if err := w.telemetry(t); err != nil {
			return err
		}
	}
	if last {
		if err := w.exec("UPDATE session SET ended = ?", stamp(time.Now())); err != nil {
			return err
		}
		if p.unfinished != "" {
			if err := w.insert("unfinished", p.unfinished); err != nil {
				return err
			}
		}
	}
	for start := time.Now(); ; {
		err := w.exec("COMMIT")
		if sqliteCode(err) != sqliteBusy || time.Since(start) > commitPatience {
			return err
		}
	}
}

// config returns the row of a configuration.
func (w *writer) config(cfg config.Config, key string, first time.Time) (*writtenConfig, error) {
	if c := w.configs[key]; c != nil {
		return c, nil
	}
	text, err := json.Marshal(cfg)
	if err != nil {
		return nil, err
	}
	c := &writtenConfig{id: int64(len(w.configs) + 1), tables: make([]int64, len(report.Kinds()))}
	w.configs[key] = c
	return c, w.insert("configs", c.id, cfg.Precision, cfg.Calibrator, cfg.Batch, string(text), stamp(first), nil, nil)
}

// telemetry writes one state of the device.
func (w *writer) telemetry(t deviceState) error {
	c, err := w.config(t.cfg, t.key, t.Time)
	if err != nil || w.states >= maxTelemetry {
		return err
	}
	w.states++
	return w.insert("telemetry", stamp(t.Time), c.id, report.OrNull(t.Clock), report.OrNull(t.MemoryClock), report.OrNull(t.Power), report.OrNull(t.Temperature),
		report.OrNull(t.MemoryUsed), report.OrNull(t.MemoryTotal), report.OrNull(t.Utilization), report.OrNull(strings.Join(t.Throttle, ",")))
}

// run writes one timed inference.
func (w *writer) run(r timedRun) error {
	c, err := w.config(r.cfg, r.key, time.Now())
	if err != nil || c.runs >= maxRunsPerConfig {
		return err
	}
	var steps any
	if len(r.steps) > 0 && c.samples+len(r.steps) <= maxSamplesPerConfig {
		c.samples += len(r.steps)
		text := make([]byte, 0, 8*len(r.steps)+2)
		for i, d := range r.steps {
			text = append(text, "[,"[min(i, 1)])
			text = strconv.AppendInt(text, int64(d), 10)
		}
		steps = string(append(text, ']'))
	}
	c.runs++
	return w.insert("runs", c.id, c.runs-1, int64(r.ns), steps)
}

// snapshot writes a snapshot, the reports that are new in it and the tables that are made of them. A state on the way
// gives way to the next one with the same reports, live timings aside.
func (w *writer) snapshot(s stamped) error {
	c, err := w.config(s.Config, s.key, s.time)
	if err != nil {
		return err
	}
	if err := w.describe(s.Snapshot); err != nil {
		return err
	}
	if err := w.log(s.Log); err != nil {
		return err
	}
	row := &writtenSnapshot{seq: s.Seq, config: c.id, stale: s.Stale, done: s.done, ids: make([]int64, len(report.Kinds()))}
	for i, p := range report.Kinds() {
		id, err := w.report(i, p.Get(s.Snapshot))
		if err != nil {
			return err
		}
		row.ids[i] = id
		if id != 0 && c.tables[i] != id && !s.Stale.Has(p.Part) {
			if err := w.fill(c.id, p, s.Snapshot); err != nil {
				return fmt.Errorf("table of %s: %w", p.Name, err)
			}
			c.tables[i] = id
		}
	}
	state, err := json.Marshal(state{s.Seq, s.Schema, s.Config, s.Device, s.Stale, s.Preview, s.Busy, s.Err, s.Telemetry})
	if err != nil {
		return err
	}
	for _, id := range row.ids {
		w.uses[id]++
	}
	if err := w.replaceLast(row); err != nil {
		return err
	}
	w.last = row
	if err := w.insert("snapshots", s.Seq, stamp(s.time), c.id, s.Settled(), w.lines, string(state)); err != nil {
		return err
	}
	for i, id := range row.ids {
		if id == 0 {
			continue
		}
		if err := w.insert("shown", s.Seq, report.Kinds()[i].Name, id); err != nil {
			return err
		}
	}
	return w.outcome(c, s)
}

// outcome notes when a configuration settled and why it failed.
func (w *writer) outcome(c *writtenConfig, s stamped) error {
	if s.Settled() && !c.settled {
		c.settled = true
		if err := w.exec("UPDATE configs SET settled = ? WHERE id = ?", stamp(s.time), c.id); err != nil {
			return err
		}
	}
	if s.Err == c.err {
		return nil
	}
	c.err = s.Err
	return w.exec("UPDATE configs SET error = ? WHERE id = ?", report.OrNull(s.Err), c.id)
}

// replaceLast removes the newest snapshot if it was one on the way to the given one, with the live timings that only it
// had.
func (w *writer) replaceLast(row *writtenSnapshot) error {
	l := w.last
	if l == nil || l.seq == row.seq {
		if l != nil {
			return w.drop(l)
		}
		return nil
	}
	if l.done || l.config != row.config || l.stale != row.stale {
		return nil
	}
	for i, p := range report.Kinds() {
		if l.ids[i] != row.ids[i] && p.Part != report.PartTimings && p.Part != report.PartOverview {
			return nil
		}
	}
	return w.drop(l)
}

func (w *writer) drop(l *writtenSnapshot) error {
	for _, id := range l.ids {
		if id == 0 {
			continue
		}
		if w.uses[id]--; w.uses[id] > 0 {
			continue
		}
		delete(w.uses, id)
		delete(w.reports, w.hashes[id])
		delete(w.hashes, id)
		if err := w.exec("DELETE FROM reports WHERE id = ?", id); err != nil {
			return err
		}
	}
	if err := w.exec("DELETE FROM shown WHERE seq = ?", l.seq); err != nil {
		return err
	}
	return w.exec("DELETE FROM snapshots WHERE seq = ?", l.seq)
}

// report returns the row of a report, 0 where there is none.
func (w *writer) report(i int, one any) (int64, error) {
	if one == nil {
		return 0, nil
	}
	if n := w.newest[i]; n.report == one && (n.id == 0 || w.uses[n.id] > 0) {
		return n.id, nil
	}
	text, err := encodeReport(one)
	if err != nil {
		w.newest[i] = writtenReport{one, 0}
		return 0, w.warn(fmt.Sprintf("the %s report is not in the recording: %v", report.Kinds()[i].Name, err))
	}
	h := sha256.Sum256(append([]byte{byte(i)}, text...))
	id, ok := w.reports[h]
	if !ok {
		var b bytes.Buffer
		z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
		if err != nil {
			return 0, err
		}
		if _, err := z.Write(text); err != nil {
			return 0, err
		}
		if err := z.Close(); err != nil {
			return 0, err
		}
		if err := w.exec("INSERT INTO reports (part, bytes, json) VALUES (?, ?, ?)", report.Kinds()[i].Name, len(text), b.Bytes()); err != nil {
			return 0, err
		}
		if err := w.conn.QueryRowContext(context.Background(), "SELECT last_insert_rowid()").Scan(&id); err != nil {
			return 0, err
		}
		w.reports[h], w.hashes[id] = id, h
	}
	w.newest[i] = writtenReport{one, id}
	return id, nil
}

// encodeReport returns a report's JSON, within what a reader accepts: in short where all of it would be too much.
func encodeReport(one any) ([]byte, error) {
	text, err := json.Marshal(one)
	if err == nil {
		err = checkReport(text)
	}
	long, ok := one.(interface{ Short() any })
	if err == nil || !ok {
		return text, err
	}
	if text, err = json.Marshal(long.Short()); err == nil {
		err = checkReport(text)
	}
	return text, err
}

// log writes the lines that are new.
func (w *writer) log(lines []report.LogLine) error {
	from := 0
	for i := len(lines) - 1; i >= 0; i-- {
		if l := lines[i]; l.Time.Equal(w.line.Time) && l.Text == w.line.Text {
			from = i + 1
			break
		}
	}
	for _, l := range lines[from:] {
		w.line = l
		if err := w.writeLine(l); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) writeLine(l report.LogLine) error {
	w.lines++
	return w.insert("log", w.lines, stamp(l.Time), l.Level, report.OrNull(l.Layer), l.Text)
}

// warn writes a line of the recorder's own.
func (w *writer) warn(text string) error {
	return w.writeLine(report.LogLine{Time: time.Now(), Level: "warning", Text: text})
}
