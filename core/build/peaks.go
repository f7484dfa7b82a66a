package build

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/host"
)

// PeaksFile remembers what devices reach at most, in a file beside the timing cache: they are measured once for a device with its
// instruction set and threads. It is safe for concurrent use. What cannot be read, or cannot have been measured, is measured anew.
type PeaksFile struct {
	mu    sync.Mutex
	path  string // empty: nothing is kept beyond the process
	known []peaksEntry
	read  bool
}

// peaksEntry is a measurement.
type peaksEntry struct {
	Device   string // the processor's own name
	Target   string // the backend's fingerprint: instruction sets and threads
	Measured time.Time
	Peaks    []run.Peaks
}

type peaksDocument struct {
	Format  string
	Version int
	Devices []peaksEntry
}

const (
	peaksFormat    = "trtui peaks"
	peaksVersion   = 4 // what is kept of the version before was measured otherwise
	maxPeaksBytes  = 1 << 20
	maxPeakDevices = 256
)

// NewPeaksFile returns the peaks that are kept in a file; "" for none.
func NewPeaksFile(path string) *PeaksFile { return &PeaksFile{path: path} }

// Of returns the peaks of a backend, with those of all its threads last: what is known of it, or a measurement, of which begin is told
// if it is not nil. They are nil where the backend measures none. An error that comes with peaks says why they could not be kept.
func (f *PeaksFile) Of(ctx context.Context, b run.Backend, begin func()) ([]run.Peaks, error) {
	p, ok := b.(run.Peaked)
	if !ok {
		return nil, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.load()
	if e := f.find(b.Info()); e != nil {
		return clonePeaks(e.Peaks), nil
	}
	if begin != nil {
		begin()
	}
	return f.measure(ctx, b.Info(), p)
}

// Again measures the peaks of a backend once more, and keeps the higher ones: what disturbs a measurement only lowers it.
func (f *PeaksFile) Again(ctx context.Context, b run.Backend) ([]run.Peaks, error) {
	p, ok := b.(run.Peaked)
	if !ok {
		return nil, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.load()
	return f.measure(ctx, b.Info(), p)
}

// measure measures and keeps peaks, no lower than those that are known. f.mu is held.
func (f *PeaksFile) measure(ctx context.Context, info run.Info, p run.Peaked) ([]run.Peaks, error) {
	peaks, err := p.Peaks(ctx)
	if err != nil {
		return nil, fmt.Errorf("measure the peaks of %s: %w", info.Name, err)
	}
	e := f.find(info)
	if e == nil {
		f.known = append(f.known, peaksEntry{Device: info.Device, Target: info.Fingerprint})
		e = &f.known[len(f.known)-1]
	} else {
		for i := range min(len(peaks), len(e.Peaks)) {
			peaks[i].Raise(e.Peaks[i])
		}
	}
	e.Peaks, e.Measured = peaks, time.Now().UTC().Truncate(time.Second)
	return clonePeaks(peaks), f.save(*e)
}

func (f *PeaksFile) find(info run.Info) *peaksEntry {
	i := slices.IndexFunc(f.known, func(e peaksEntry) bool {
		return e.Device == info.Device && e.Target == info.Fingerprint && e.Peaks[len(e.Peaks)-1].Threads == info.Threads
	})
	if i < 0 {
		return nil
	}
	return &f.known[i]
}

// load reads the file, once. What is wrong with it, or with one of its devices, leaves that out.
func (f *PeaksFile) load() {
	if !f.read {
		f.known, _ = f.stored()
		f.read = true
	}
}

// stored returns what the file has, of what makes sense. A file that cannot be read is an error, one that is not there is none.
func (f *PeaksFile) stored() ([]peaksEntry, error) {
	if f.path == "" {
		return nil, nil
	}
	data, err := host.ReadUpTo(f.path, maxPeaksBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("peaks: %w", err)
	}
	var doc peaksDocument
	if json.Unmarshal(data, &doc) != nil || doc.Format != peaksFormat || doc.Version != peaksVersion || len(doc.Devices) > maxPeakDevices {
		return nil, nil
	}
	return slices.DeleteFunc(doc.Devices, func(e peaksEntry) bool {
		return len(e.Peaks) == 0 || len(e.Peaks) > 2 || slices.ContainsFunc(e.Peaks, func(p run.Peaks) bool { return p.Check() != nil })
	}), nil
}

// save writes a measurement to the file, as a whole, beside what others wrote to it in the meantime.
func (f *PeaksFile) save(e peaksEntry) error {
	if f.path == "" {
		return nil
	}
	stored, err := f.stored()
	if err != nil {
		return fmt.Errorf("%w; it is left as it is, without what was measured now", err)
	}
	others := slices.DeleteFunc(stored, func(o peaksEntry) bool { return o.Device == e.Device && o.Target == e.Target })
	list := append(others, e)
	slices.SortFunc(list, func(a, b peaksEntry) int {
		return cmp.Or(strings.Compare(a.Device, b.Device), strings.Compare(a.Target, b.Target))
	})
	if len(list) > maxPeakDevices {
		list = []peaksEntry{e}
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetIndent("", " ")
	if err := enc.Encode(peaksDocument{peaksFormat, peaksVersion, list}); err != nil {
		return fmt.Errorf("peaks: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o755); err != nil {
		return fmt.Errorf("peaks: %w", err)
	}
	if _, err := host.WriteFile(f.path, host.Bytes(text.Bytes())); err != nil {
		return fmt.Errorf("peaks: %w", err)
	}
	return nil
}

// clonePeaks returns peaks that the caller may change.
func clonePeaks(list []run.Peaks) []run.Peaks {
	list = slices.Clone(list)
	for i, p := range list {
		list[i].Compute, list[i].Memory = slices.Clone(p.Compute), slices.Clone(p.Memory)
	}
	return list
}
