package sessions

import (
	_ "embed"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// A recording is one SQLite file. docs/recording.md describes it for those who query it.
const (
	// RecordingVersion is the version of the tables, in PRAGMA user_version.
	RecordingVersion = 2
	// RecordingExtension is how the names of recordings end.
	RecordingExtension = ".trtui"

	recordingMagic = 0x54525455 // "TRTU", in PRAGMA application_id
)

// recordedSince has the tables that a version added; those of version 1 are not in it. A reader takes older files.
var recordedSince = map[string]uint32{"telemetry": 2}

//go:embed recording.sql
var recordingSchema string

// The bounds on what a recording holds. The reader refuses what the writer does not write.
const (
	maxRecordingPages   = 1 << 18  // of 4 KiB: 1 GiB
	maxReportBytes      = 64 << 20 // of a report's JSON
	maxReportElements   = 1 << 20  // of all arrays in it
	maxStateBytes       = 1 << 20
	maxRecordedConfigs  = 1000
	maxRecordedStates   = 100_000
	maxRunsPerConfig    = 20_000
	maxSamplesPerConfig = 400_000 // of layers; runs behind that are recorded as a whole only
	maxLogLines         = 1000    // in a snapshot
	maxTelemetry        = 200_000 // more than two days
)

// recordedState is what a snapshot has beside its reports and its log.
type recordedState struct {
	Seq    int
	Schema int
	Config config.Config
	Device report.Device
	Stale  report.Parts
	Busy   *report.Progress `json:",omitempty"`
	Err    string           `json:",omitempty"`

	Telemetry *report.Telemetry `json:",omitempty"`
}

// sqliteURI returns the URI of a database file, whatever characters its path has.
func sqliteURI(path string, query url.Values) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	p := filepath.ToSlash(abs)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	return "file://" + (&url.URL{Path: p}).EscapedPath() + "?" + query.Encode(), nil
}
