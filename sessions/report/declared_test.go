package report_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/recording"
	"github.com/trtui/trtui/sessions/report"
)

// remark is a report of the test's own. It stands in a field of snapshots that recordings do not keep.
type remark struct{ Text string }

var remarks = report.Kind{
	Part: 1 << 15, Name: "remark",
	New: func() any { return new(remark) },
	Get: func(s *report.Snapshot) any {
		if s.Retiming == "" {
			return nil
		}
		return &remark{s.Retiming}
	},
	Set:    func(s *report.Snapshot, r any) { s.Retiming = r.(*remark).Text },
	Tables: "\nCREATE TABLE remarks (\n  config INTEGER NOT NULL REFERENCES configs(id),\n  text TEXT\n);\n",
	Rows: func(s *report.Snapshot, add report.AddRow) error {
		return add("remarks", report.OrNull(s.Retiming))
	},
}

// recordTwo records two states and returns the file.
func recordTwo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.trtui")
	r, err := recording.Create(path, "test", false)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range []config.Precision{config.FP32, config.INT8} {
		r.Snapshot(&report.Snapshot{
			Seq: i + 1, Schema: report.Schema, Config: config.Config{Precision: p, Batch: 1}, Model: &report.Model{Name: "m", SHA256: "00"},
			Timings: &report.Timings{Samples: 2}, Retiming: fmt.Sprint("remark ", i+1),
		})
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestDeclaredPart declares a report in this package alone: it is recorded, in its table too, and replayed; and programs with
// and without it read each other's files.
func TestDeclaredPart(t *testing.T) {
	without := recordTwo(t)
	var undeclare func()
	report.Declare(func(f func()) { undeclare = f }, remarks)
	with := recordTwo(t)
	db, err := sql.Open("sqlite", with)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var rows, shown string
	if err := db.QueryRow("SELECT group_concat(config || text) FROM remarks").Scan(&rows); err != nil || rows != "1remark 1,2remark 2" {
		t.Errorf("the table has %q, %v", rows, err)
	}
	if err := db.QueryRow("SELECT count(*) FROM shown WHERE part = 'remark'").Scan(&shown); err != nil || shown != "2" {
		t.Errorf("%s states have it, %v", shown, err)
	}
	if got := replayed(t, with); !slices.Equal(got, []string{"remark 1", "remark 2"}) {
		t.Errorf("it is replayed as %q", got)
	}
	if got := replayed(t, without); !slices.Equal(got, []string{"", ""}) {
		t.Errorf("a file without it has %q", got)
	}
	undeclare()
	if got := replayed(t, with); !slices.Equal(got, []string{"", ""}) {
		t.Errorf("a program without it shows %q", got)
	}
	report.Declare(t.Cleanup, remarks)
	if _, err := db.Exec("DROP TABLE remarks; CREATE VIEW remarks AS SELECT 1 AS config, 'x' AS text"); err != nil {
		t.Fatal(err)
	}
	if r, err := recording.Open(with); err == nil {
		r.Close()
		t.Error("a table of another shape is taken")
	}
}

// replayed returns what remarks the states of a file have.
func replayed(t *testing.T, path string) (list []string) {
	t.Helper()
	r, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i := range r.Steps() {
		s, err := r.At(i)
		if err != nil || s.Model == nil {
			t.Fatalf("state %d: %+v, %v", i, s, err)
		}
		list = append(list, s.Retiming)
	}
	return list
}
