package recording

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// Report sums the recording up.
func (f *film) Report() (*report.Recording, error) {
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	rep, err := f.file.report(ctx)
	if err == nil {
		rep.States = len(f.has().steps)
		rep.SetConfigs(f.Tried())
	}
	if err != nil {
		return nil, fmt.Errorf("recording %s: %w", f.file.path, damaged(err))
	}
	return rep, nil
}

// report reads the session's row.
func (f *file) report(ctx context.Context) (*report.Recording, error) {
	info, err := os.Stat(f.path)
	if err != nil {
		return nil, err
	}
	r := &report.Recording{Schema: report.Schema, Path: f.path, Bytes: info.Size(), Version: int(f.version), Writing: isHeld(f.lock)}
	var started, ended string
	d := &r.Device
	text := func(column string) string { return "coalesce(substr(" + column + ", 1, 4096), '')" }
	err = f.conn.QueryRowContext(ctx, "SELECT "+text("program")+", "+text("started")+", "+text("ended")+", "+
		text("model")+", "+text("model_path")+", "+text("model_kind")+", coalesce(model_bytes, 0), "+text("model_sha256")+", "+
		text("data")+`, coalesce(data_items, 0), coalesce(data_labelled, 0), coalesce(data_random, 0), coalesce(calibration_items, 0), `+
		text("backend")+", "+text("device")+", coalesce(threads, 0), "+text("fingerprint")+", coalesce(estimated, 0) FROM session LIMIT 1").Scan(
		&r.Program, &started, &ended, &r.Model, &r.ModelPath, &r.ModelKind, &r.ModelBytes, &r.ModelSHA256,
		&r.Data, &r.Items, &r.Labelled, &r.Random, &r.CalItems, &d.Backend, &d.Device, &d.Threads, &d.Fingerprint, &d.Estimated)
	if err != nil {
		return nil, err
	}
	if r.Started, err = time.Parse(time.RFC3339Nano, started); err != nil {
		return nil, err
	}
	if r.Unfinished, err = f.unfinished(ctx); err != nil {
		return nil, err
	}
	if ended != "" {
		r.Complete = true
		r.Ended, err = time.Parse(time.RFC3339Nano, ended)
	}
	return r, err
}

// unfinished returns why not all was done that the recording was begun for, "" where nothing is known to be left. Files of
// older versions do not say.
func (f *file) unfinished(ctx context.Context) (why string, err error) {
	if f.version < since["unfinished"] {
		return "", nil
	}
	err = f.conn.QueryRowContext(ctx, "SELECT coalesce(max(substr(why, 1, 4096)), '') FROM unfinished").Scan(&why)
	return why, err
}

// configs reads the configurations and their results; quantized is as for [config.Config.Effective].
func (f *file) configs(ctx context.Context, quantized bool) ([]report.RecordedConfig, error) {
	rows, err := f.conn.QueryContext(ctx, `
		SELECT c.id, substr(c.config, 1, 65536), substr(c.first, 1, 64), c.settled IS NOT NULL, coalesce(substr(c.error, 1, 4096), ''),
			coalesce((SELECT max(run) + 1 FROM runs WHERE config = c.id), 0), t.median_ns, t.p99_ns, a.top1, a.agreement,
			(SELECT sqnr_db FROM errors WHERE config = c.id AND kind = 'output' LIMIT 1), m.peak, m.weights
		FROM configs c
		LEFT JOIN timings t ON t.config = c.id AND t.step = -1
		LEFT JOIN accuracy a ON a.config = c.id
		LEFT JOIN memory m ON m.config = c.id
		ORDER BY c.id LIMIT ?`, maxConfigs)
	if err != nil {
		return nil, err
	}
	list, err := scanAll(rows, func(scan func(...any) error) (report.RecordedConfig, error) {
		var c report.RecordedConfig
		var text, first string
		var median, p99 sql.NullInt64
		err := scan(&c.ID, &text, &first, &c.Settled, &c.Err, &c.Runs, &median, &p99, &c.Top1, &c.Agreement, &c.SQNR, &c.ArenaBytes, &c.Weights)
		if err != nil {
			return c, err
		}
		if err := json.Unmarshal([]byte(text), &c.Config); err != nil {
			return c, err
		}
		c.Median, c.P99 = duration(median), duration(p99)
		c.First, err = time.Parse(time.RFC3339Nano, first)
		return c, err
	})
	var configs []config.Config
	for _, c := range list {
		configs = append(configs, c.Config)
	}
	for i, name := range config.Labels(configs, quantized) {
		list[i].Name = name
	}
	return list, err
}

// quantized reports whether the recorded model brings quantisation of its own.
func (f *file) quantized(ctx context.Context) (own bool, err error) {
	err = f.conn.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM ledger WHERE op IN (?, ?))", graph.Quantize.Name, graph.Dequantize.Name).Scan(&own)
	return own, err
}

func duration(n sql.NullInt64) *time.Duration {
	if !n.Valid {
		return nil
	}
	d := time.Duration(n.Int64)
	return &d
}

// Folder is a folder of recordings.
type Folder string

func (f Folder) String() string { return string(f) }

// Names are the files in the folder that are named as recordings are, in a line each.
func (f Folder) Names() string {
	entries, err := os.ReadDir(string(f))
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range entries {
		if filepath.Ext(e.Name()) == Extension {
			names = append(names, e.Name())
		}
	}
	return strings.Join(names, "\n")
}

// List sums up the recordings in the folder, as the function of that name.
func (f Folder) List() ([]*report.Recording, error) { return List(string(f)) }

// New returns the path of a new recording, named after its model and when it begins. It makes the folder where there is
// none.
func (f Folder) New(model string, begins time.Time) (path string, err error) {
	if err := os.MkdirAll(string(f), 0o755); err != nil {
		return "", err
	}
	return filepath.Join(string(f), model+begins.Format("-20060102-150405")+Extension), nil
}

// List sums up the recordings in a folder, newest first. One that cannot be read has Err set. A folder that
// does not exist holds none.
func List(dir string) ([]*report.Recording, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("recordings: %w", err)
	}
	var list []*report.Recording
	for _, e := range entries {
		if filepath.Ext(e.Name()) != Extension || !e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(dir, e.Name())
		r, err := summarize(path)
		if err != nil {
			r = &report.Recording{Schema: report.Schema, Path: path, Err: err.Error()}
			if info, err := e.Info(); err == nil {
				r.Bytes, r.Started = info.Size(), info.ModTime()
			}
		}
		list = append(list, r)
	}
	slices.SortStableFunc(list, func(a, b *report.Recording) int {
		return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(a.Path, b.Path))
	})
	return list, nil
}

// summarize opens a recording only to sum it up.
func summarize(path string) (*report.Recording, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	r, err := f.report(ctx)
	if err == nil {
		err = f.conn.QueryRowContext(ctx, "SELECT count(*) FROM snapshots").Scan(&r.States)
	}
	if err == nil {
		var own bool
		if own, err = f.quantized(ctx); err == nil {
			var list []report.RecordedConfig
			list, err = f.configs(ctx, own)
			r.SetConfigs(list)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("recording %s: %w", path, damaged(err))
	}
	return r, nil
}
