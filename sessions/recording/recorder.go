package recording

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/host"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// writeInterval is how often what is new is written: a kill loses no more than that and the time of one write.
const writeInterval = 500 * time.Millisecond

// Recorder writes snapshots and samples to a recording as they come. Handing something over never waits for the disk:
// a goroutine of its own writes, in one transaction every half second. Between transactions the file is whole and alone,
// without a journal beside it; one that was interrupted is undone when the file is next opened.
type Recorder struct {
	path   string
	writer *writer
	held   *os.File // see hold; it is closed behind the writer, whose locks go with the first file of theirs that is closed

	quantized bool // the model brings quantisation of its own

	mu         sync.Mutex
	pending    pending
	unfinished string      // why not all was done; empty: it was, or nobody knows what is all
	dead       bool        // the writer gave up: what comes is dropped
	kept       bool        // a state is in the file; only the writing goroutine uses it until done
	failed     func(error) // told once when the writer gave up
	over       error       // why it did

	closing chan struct{}
	done    chan struct{}
	once    sync.Once
	err     error // valid after done
}

// The bounds on what waits.
const (
	maxPendingSamples   = 1 << 20
	maxPendingTelemetry = 1000
)

// Create begins a recording in a new file, which names the program that writes it; quantized says that the model brings
// quantisation of its own. It fails if the file exists.
func Create(path, program string, quantized bool) (*Recorder, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("recording %s: the file exists; name a new one", path)
	}
	if err != nil {
		return nil, fmt.Errorf("recording: %w", err)
	}
	hold(f)
	w, err := openWriter(path, program)
	if err != nil {
		f.Close()
		os.Remove(path)
		return nil, fmt.Errorf("recording %s: %w", path, describeWriteError(path, err))
	}
	r := &Recorder{path: path, quantized: quantized, writer: w, held: f, closing: make(chan struct{}), done: make(chan struct{})}
	go r.loop()
	return r, nil
}

// openWriter opens a new database file and makes its tables.
func openWriter(path, program string) (*writer, error) {
	uri, err := sqliteURI(path, url.Values{"_pragma": {
		"busy_timeout(2000)", "journal_mode(delete)", "synchronous(normal)", "cache_spill(off)",
		fmt.Sprintf("max_page_count(%d)", maxPages),
	}})
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", uri)
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	begin := fmt.Sprintf("BEGIN IMMEDIATE; PRAGMA application_id=%d; PRAGMA user_version=%d;", host.RecordingID, Version)
	_, err = conn.ExecContext(ctx, begin+tables+reportTables())
	if err == nil {
		_, err = conn.ExecContext(ctx, "INSERT INTO session (program, schema, started) VALUES (?, ?, ?); COMMIT", program, report.Schema, stamp(time.Now()))
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close(), db.Close())
	}
	return newWriter(db, conn), nil
}

// Path returns the name of the file.
func (r *Recorder) Path() string { return r.path }

// Snapshot hands a snapshot over. It does not wait.
func (r *Recorder) Snapshot(s *report.Snapshot) {
	r.add(stamped{s, time.Now(), r.key(s.Config), false})
}

// key tells configurations apart: those that build the same engine are one in a recording.
func (r *Recorder) key(cfg config.Config) string { return cfg.Key(r.quantized) }

func (r *Recorder) add(s stamped) {
	s.done = s.Err != "" || s.Refused() && s.Stale == 0 || s.Settled() && (s.Busy == nil || !s.Timings.Live)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dead {
		return
	}
	p := &r.pending
	p.meet(s.Config, s.key)
	if !s.done {
		p.progress = &s
	} else {
		p.progress = nil
		p.settled = slices.DeleteFunc(p.settled, func(o stamped) bool { return o.key == s.key })
		p.settled = append(p.settled, s)
	}
}

// Sample hands a timed inference of a configuration, with its key, over. It does not wait; steps are copied.
func (r *Recorder) Sample(key string, cfg config.Config, s run.Sample) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 1 + len(s.Steps)
	if r.dead || r.pending.samples+n > maxPendingSamples {
		return
	}
	r.pending.samples += n
	r.pending.meet(cfg, key)
	r.pending.runs = append(r.pending.runs, timedRun{cfg, key, s.Latency, slices.Clone(s.Steps)})
}

// Telemetry hands a state of the device over. It does not wait.
func (r *Recorder) Telemetry(cfg config.Config, t *report.Telemetry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.dead && len(r.pending.telemetry) < maxPendingTelemetry {
		r.pending.meet(cfg, r.key(cfg))
		r.pending.telemetry = append(r.pending.telemetry, deviceState{cfg, r.key(cfg), t})
	}
}

// Unfinished notes why not all was done that the recording was begun for. It is written when the recorder is closed.
func (r *Recorder) Unfinished(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unfinished = why
}

// Close writes what is left, marks the recording as complete and closes the file.
func (r *Recorder) Close() error {
	r.once.Do(func() { close(r.closing) })
	<-r.done
	return r.err
}

// Discard ends the recording and removes its file.
func (r *Recorder) Discard() error {
	if err := r.Close(); err != nil && !r.kept {
		return nil // it is gone
	}
	return removeRecording(r.path)
}

// loop writes until the recorder is closed or writing fails.
func (r *Recorder) loop() {
	defer close(r.done)
	tick := time.NewTicker(writeInterval)
	defer tick.Stop()
	for open := true; open && r.err == nil; {
		select {
		case <-tick.C:
		case <-r.closing:
			open = false
		}
		r.err = r.flush(!open)
	}
	if r.err != nil {
		r.err = &WriteError{r.path, describeWriteError(r.path, r.err), r.kept}
		r.mu.Lock()
		r.dead, r.pending = true, pending{}
		r.mu.Unlock()
	}
	if err := r.writer.close(); r.err == nil {
		r.err = err
	}
	r.held.Close()
	if r.err != nil && !r.kept {
		removeRecording(r.path) // an error does not matter: another recording has another name
	}
	r.mu.Lock()
	failed := r.failed
	r.over = r.err
	r.mu.Unlock()
	if r.err != nil && failed != nil {
		failed(r.err)
	}
}

// OnFailure has f told when writing fails, at once where it has failed already.
func (r *Recorder) OnFailure(f func(error)) {
	r.mu.Lock()
	r.failed = f
	over := r.over
	r.mu.Unlock()
	if over != nil {
		f(over)
	}
}

// flush writes what is pending in one transaction.
func (r *Recorder) flush(last bool) error {
	r.mu.Lock()
	p := r.pending
	r.pending = pending{}
	p.unfinished = r.unfinished
	r.mu.Unlock()
	if p.progress != nil {
		p.settled = append(p.settled, *p.progress)
	}
	if len(p.settled)+len(p.runs)+len(p.telemetry) == 0 && !last {
		return nil
	}
	err := r.writer.write(p, last)
	r.kept = r.kept || err == nil && len(p.settled) > 0
	return err
}

// WriteError says why a recording ended by itself.
type WriteError struct {
	Path string
	Err  error
	Kept bool // what was recorded until then is in the file; else nothing was, and there is no file
}

func (e *WriteError) Error() string { return "recording " + e.Path + ": " + e.Reason() }

func (e *WriteError) Unwrap() error { return e.Err }

// Reason is the error without the name of the file.
func (e *WriteError) Reason() string {
	if e.Kept {
		return e.Err.Error() + "; what was recorded until then is kept"
	}
	return e.Err.Error() + "; nothing was recorded, no file is left"
}

// removeRecording removes a recording and what a writer may have left beside it.
func removeRecording(path string) error {
	return errors.Join(os.Remove(path), ignoreMissing(os.Remove(path+"-journal")))
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// describeWriteError says what an error of the database is to a person.
func describeWriteError(path string, err error) error {
	switch sqliteCode(err) {
	case sqliteFull:
		if info, statErr := os.Stat(path); statErr == nil && info.Size() >= maxPages/2*pageBytes {
			return fmt.Errorf("it has reached 1 GiB: %w", err)
		}
		return fmt.Errorf("the disk is full: %w", err)
	case sqliteIOError:
		return fmt.Errorf("the disk cannot be written to: %w", err)
	}
	return err
}
