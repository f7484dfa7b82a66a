package recording_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trtui/trtui/sessions/recording"
)

// The tables that later versions added are not missed in a recording of an earlier one.
func TestRecordingOfVersion1(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.trtui")
	r, err := recording.Create(path, "test", false)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	change := func(statement string) error {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
		replay, err := recording.Open(path)
		if err == nil {
			replay.Close()
		}
		return err
	}
	defer db.Close()
	if change("DROP TABLE shown") == nil {
		t.Error("version 4 without its table is opened")
	}
	if change("PRAGMA user_version = 3") == nil {
		t.Error("version 3 with the states of version 4 is opened")
	}
	then, err := os.ReadFile("version3.sql")
	if err != nil {
		t.Fatal(err)
	}
	if err := change("DROP TABLE snapshots; DROP TABLE reports;" + string(then)); err == nil || !strings.Contains(err.Error(), "before anything was recorded") {
		t.Errorf("version 3: %v", err)
	}
	if change("DROP TABLE unfinished") == nil {
		t.Error("version 3 without its table is opened")
	}
	if err := change("PRAGMA user_version = 2"); err == nil || !strings.Contains(err.Error(), "before anything was recorded") {
		t.Errorf("version 2: %v", err)
	}
	if change("DROP TABLE telemetry") == nil {
		t.Error("version 2 without its table is opened")
	}
	old := change("PRAGMA user_version = 1")
	if old == nil || !strings.Contains(old.Error(), "before anything was recorded") { // the tables are as they should be
		t.Errorf("version 1: %v", old)
	}
}
