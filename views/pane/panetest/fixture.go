package panetest

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"hash/fnv"
	"io"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/report"
)

//go:embed testdata/digits-int8.json.gz
var fixtureData []byte

// Fixture returns a settled snapshot of the embedded model in INT8, with made-up times.
func Fixture(t testing.TB) *report.Snapshot {
	t.Helper()
	unzip, err := gzip.NewReader(bytes.NewReader(fixtureData))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(unzip)
	if err != nil {
		t.Fatal(err)
	}
	snap := &report.Snapshot{}
	if err := json.Unmarshal(data, snap); err != nil {
		t.Fatal(err)
	}
	return snap
}

// Invented returns a time that depends on nothing but a name: some microseconds more than base.
func Invented(name string, base time.Duration) time.Duration {
	h := fnv.New64a()
	h.Write([]byte(name))
	return base + time.Duration(h.Sum64()%97)*base/31
}

// Around returns the statistics of n measurements with that median.
func Around(median time.Duration, n int) report.Latency {
	return report.Latency{Count: n, Median: median, Mean: median * 21 / 20, Min: median * 9 / 10, Max: median * 2,
		P90: median * 11 / 10, P95: median * 6 / 5, P99: median * 7 / 5, CV: float64(median%40) / 1000}
}
