package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/run"
)

// peaked is a device whose measurements are given.
type peaked struct {
	run.Backend
	threads  int
	rates    []float64 // of each measurement
	measured int
	err      error
}

func (p *peaked) Info() run.Info {
	return run.Info{Name: "cpu", Device: "a processor", Fingerprint: "cpu avx2", Threads: p.threads}
}

func (p *peaked) Peaks(context.Context) ([]run.Peaks, error) {
	r := p.rates[p.measured%len(p.rates)]
	p.measured++
	return []run.Peaks{{Threads: p.threads, Compute: []run.Peak{{Name: "f32", By: "FMA", Rate: r}},
		Memory: []run.Peak{{Name: "L1", Rate: 2 * r, Holds: 1 << 15}, {Name: "DRAM", Rate: r / 10, Spread: 0.5}}}}, p.err
}

// TestPeaksFile measures once for a device and its threads, whatever process asks, and keeps the highest rates.
func TestPeaksFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "folder", "peaks.json")
	dev := &peaked{threads: 2, rates: []float64{1e9, 2e9, 5e8}}
	of := func(f *PeaksFile, d *peaked, rate float64, measured int) {
		t.Helper()
		began := 0
		before := d.measured
		p, err := f.Of(t.Context(), d, func() { began++ })
		if err != nil || len(p) != 1 || p[0].Compute[0].Rate != rate || d.measured != measured || began != measured-before {
			t.Fatalf("%+v, %v, measured %d times, want %g after %d", p, err, d.measured, rate, measured)
		}
	}
	f := NewPeaksFile(path)
	of(f, dev, 1e9, 1)
	of(f, dev, 1e9, 1)
	of(NewPeaksFile(path), dev, 1e9, 1)
	for i, want := range []float64{2e9, 2e9} {
		if p, err := f.Again(t.Context(), dev); err != nil || p[0].Compute[0].Rate != want || p[0].Memory[1].Rate != want/10 {
			t.Fatalf("again, %d: %+v, %v", i, p, err)
		}
	}
	of(NewPeaksFile(path), dev, 2e9, 3)
	four := &peaked{threads: 4, rates: []float64{7e9}}
	of(NewPeaksFile(path), four, 7e9, 1)
	none := NewPeaksFile("")
	of(none, four, 7e9, 2)
	of(none, four, 7e9, 2)
}

// TestPeaksFileMends measures anew where a file is none of ours, or says what cannot have been measured.
func TestPeaksFileMends(t *testing.T) {
	path := filepath.Join(t.TempDir(), "peaks.json")
	dev := &peaked{threads: 2, rates: []float64{1e9}}
	if _, err := NewPeaksFile(path).Of(t.Context(), dev, nil); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, bad := range []string{
		"", "{", "[]", "null", string(good[:len(good)/2]),
		strings.Replace(string(good), fmt.Sprintf(`"Version": %d`, peaksVersion), `"Version": 1`, 1),
		strings.ReplaceAll(string(good), "1000000000", "0"),
		strings.ReplaceAll(string(good), "1000000000", "-1"),
		strings.Replace(string(good), "32768", "0", 1),
		strings.Replace(string(good), `"Threads": 2`, `"Threads": 3`, 1),
		strings.Replace(string(good), `"Spread": 0.5`, `"Spread": -0.5`, 1),
	} {
		if err := os.WriteFile(path, []byte(bad), 0o644); err != nil {
			t.Fatal(err)
		}
		before := dev.measured
		if p, err := NewPeaksFile(path).Of(t.Context(), dev, nil); err != nil || dev.measured != before+1 || p[0].Compute[0].Rate != 1e9 {
			t.Errorf("case %d: %+v, %v, measured %d times", i, p, err, dev.measured-before)
		}
		if now, err := os.ReadFile(path); err != nil || i < 5 && !strings.Contains(string(now), "a processor") {
			t.Errorf("case %d: the file has %s, %v", i, now, err)
		}
	}
}

func TestPeaksFileErrors(t *testing.T) {
	dir := t.TempDir()
	dev := &peaked{threads: 1, rates: []float64{1e9}}
	if p, err := NewPeaksFile(dir).Of(t.Context(), dev, nil); err == nil || len(p) != 1 {
		t.Errorf("a folder in the file's place: %v, %v", p, err)
	}
	large := filepath.Join(dir, "large")
	if err := os.WriteFile(large, bytes.Repeat([]byte(" "), maxPeaksBytes+1), 0o644); err != nil {
		t.Fatal(err)
	}
	if p, err := NewPeaksFile(large).Of(t.Context(), dev, nil); err == nil || len(p) != 1 {
		t.Errorf("a file that is too large: %v, %v", p, err)
	}
	if info, err := os.Stat(large); err != nil || info.Size() != maxPeaksBytes+1 {
		t.Errorf("a file that is too large is not left as it is: %v", err)
	}
	dev.err = errors.New("lost")
	if p, err := NewPeaksFile(filepath.Join(dir, "x")).Of(t.Context(), dev, nil); err == nil || p != nil {
		t.Errorf("a measurement that fails: %v, %v", p, err)
	}
	if p, err := NewPeaksFile("").Of(t.Context(), run.Backend(nil), nil); p != nil || err != nil {
		t.Errorf("a device that measures nothing: %v, %v", p, err)
	}
}
