package recording

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// smallRecording writes a recording of made-up reports and returns the file's bytes.
func smallRecording(t testing.TB) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "small.trtui")
	r, err := Create(path, "test", false)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range []config.Precision{config.FP32, config.INT8} {
		cfg := config.Config{Precision: p, Calibrator: "entropy", Batch: 1, Disable: []string{"fuse-conv-bn"}}
		layer := report.LayerTiming{Name: "conv", Op: "Conv", Latency: report.Latency{Count: 2, Median: 5}}
		r.Sample(r.key(cfg), cfg, run.Sample{Latency: 10, Steps: []time.Duration{4, 5}})
		r.Snapshot(&report.Snapshot{
			Seq: i + 1, Schema: report.Schema, Config: cfg,
			Model:       &report.Model{Name: "m", Path: "m.onnx", SHA256: "00", Layers: []report.Layer{{Name: "conv"}}},
			Passes:      &report.Passes{Steps: []report.PassStep{{Pass: "fuse", Missed: []report.MissedSite{{Rule: "r", Reason: "dtype"}}}}, Ledger: []report.LedgerEntry{{Layer: "conv", Fate: "kept", Into: "conv"}}},
			Overview:    &report.Overview{Batch: 1},
			Timings:     &report.Timings{Samples: 2, Layers: []report.LayerTiming{layer, layer}},
			Memory:      &report.Memory{Slots: []report.Slot{{Tensor: "x", Bytes: 256}}},
			Calibration: &report.Calibration{Calibrators: []string{"minmax"}, Tensors: []report.TensorCalibration{{Tensor: "x", By: make([]report.CalibratorResult, 1)}}},
			Accuracy:    &report.Accuracy{Layers: []report.LayerError{{Name: "conv"}}, Labels: report.LabelAccuracy{Top1: -1}},
			Tactics:     &report.Tactics{Layers: []report.LayerTactics{{Layer: "conv", Candidates: []report.Candidate{{Tactic: "direct"}}}}},
			Log:         []report.LogLine{{Time: time.Unix(int64(i), 0), Level: "info", Text: "built"}},
		})
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// readAll opens a recording and reads all of it; what it returns is the first error.
func readAll(path string) error {
	r, err := Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	for i := range r.Steps() {
		if _, e := r.At(i); err == nil {
			err = e
		}
	}
	if _, e := r.Report(); err == nil {
		err = e
	}
	return err
}

func TestDamagedRecordings(t *testing.T) {
	notUnderRace(t)
	data := smallRecording(t)
	path := filepath.Join(t.TempDir(), "damaged.trtui")
	read := func(data []byte) error {
		t.Helper()
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return readAll(path)
	}
	if err := read(data); err != nil {
		t.Fatal(err)
	}
	check := func(what string, err error) {
		t.Helper()
		if err == nil {
			return
		}
		if !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: not one paragraph that names the file: %v", what, err)
		}
	}
	const flips = 120
	random := rand.New(rand.NewPCG(1, 2))
	failed := 0
	for range flips {
		broken := bytes.Clone(data)
		at := random.IntN(len(broken))
		broken[at] ^= byte(1 + random.IntN(255))
		err := read(broken)
		check("flipped", err)
		if err != nil {
			failed++
		}
	}
	t.Logf("%d of %d flipped bytes were noticed", failed, flips)
	for range 20 {
		broken := data[:random.IntN(len(data))]
		if err := read(broken); err == nil {
			t.Errorf("truncated to %d bytes of %d: no error", len(broken), len(data))
		} else {
			check("truncated", err)
		}
	}
}

func TestForeignFilesAreNoRecordings(t *testing.T) {
	data := smallRecording(t)
	newer := bytes.Clone(data)
	binary.BigEndian.PutUint32(newer[60:], Version+1)
	foreign := bytes.Clone(data)
	binary.BigEndian.PutUint32(foreign[68:], 0)
	altered := bytes.ReplaceAll(data, []byte("steps  TEXT"), []byte("steps  BLOB")) // in what a page had before, too
	for _, tt := range []struct {
		name, want string
		data       []byte
	}{
		{"empty", "the file is empty", nil},
		{"text", "not a recording", []byte("hello\n")},
		{"long text", "not a recording", bytes.Repeat([]byte("hello "), 1000)},
		{"another database", "not a recording", foreign},
		{"newer", "version 5", newer},
		{"half", "truncated", data[:len(data)/2]},
		{"other tables", "damaged", altered},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(path, tt.data, 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := Open(path)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("a folder opens")
	}
	if _, err := Open("/does/not/exist"); err == nil || !strings.Contains(err.Error(), "/does/not/exist") {
		t.Errorf("a file that does not exist: %v", err)
	}
}

func pack(t testing.TB, write func(z *gzip.Writer)) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	write(z)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestReportsAreBounded(t *testing.T) {
	notUnderRace(t)
	zeros := pack(t, func(z *gzip.Writer) {
		for range 1 + maxReportBytes/(1<<20) {
			z.Write(make([]byte, 1<<20))
		}
	})
	many := pack(t, func(z *gzip.Writer) {
		z.Write([]byte(`{"Steps":[`))
		z.Write(bytes.Repeat([]byte("{},"), maxReportElements))
		z.Write([]byte(`{}]}`))
	})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, packed := range [][]byte{zeros, many} {
		if err := decodeReport(packed, new(report.Passes)); err == nil {
			t.Error("a report that is too large is read")
		}
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 16*maxReportBytes {
		t.Errorf("reading took %d MiB", grown>>20)
	}
}

func FuzzDecodeReport(f *testing.F) {
	f.Add(byte(0), []byte(`{"Name":"m","Layers":[{"Name":"a","Inputs":["x"]}],"Ops":{"Conv":1}}`))
	f.Add(byte(3), []byte(`{"Layers":[{"Name":"a","Median":5,"Recent":[1,2]}]}`))
	f.Add(byte(5), []byte(`{"Tensors":[{"By":[{"Amax":1e40}]}]}`))
	f.Fuzz(func(t *testing.T, part byte, text []byte) {
		report := report.Kinds()[int(part)%len(report.Kinds())].New()
		if decodeReport(pack(t, func(z *gzip.Writer) { z.Write(text) }), report) != nil {
			return
		}
		if _, err := json.Marshal(report); err != nil {
			t.Errorf("a report that was read cannot be written: %v", err)
		}
		_ = decodeReport(text, report)
	})
}

func FuzzOpen(f *testing.F) {
	data := smallRecording(f)
	f.Add(uint32(100), []byte{13, 0, 0}, uint32(0))
	f.Add(uint32(4096), []byte{5, 255, 255, 255}, uint32(0))
	f.Add(uint32(20000), []byte("\xff\xff\xff\xff"), uint32(1))
	path := filepath.Join(f.TempDir(), "fuzzed.trtui")
	f.Fuzz(func(t *testing.T, at uint32, patch []byte, cut uint32) {
		broken := bytes.Clone(data[:len(data)-int(cut)%len(data)])
		if int(at) < len(broken) {
			copy(broken[at:], patch)
		}
		if err := os.WriteFile(path, broken, 0o644); err != nil {
			t.Fatal(err)
		}
		_ = readAll(path) // any error will do
	})
}

// notUnderRace skips a test of what is read, which is the same in every order, under the race detector.
func notUnderRace(t *testing.T) {
	t.Helper()
	if raceEnabled {
		t.Skip("has no goroutines that others lack; the race detector would make it slow")
	}
}
