// Package recording keeps what a session showed in a file: a [Recorder] writes snapshots and samples as they come, a [Replay]
// shows them again without the model, and [List] sums up the recordings in a folder. Start with recording.go.
package recording

import (
	_ "embed"
	"strings"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// A recording is one SQLite file. docs/recording.md describes it for those who query it.
const (
	// Version is the version of the tables, in PRAGMA user_version.
	Version = 4
	// Extension is how the names of recordings end.
	Extension = ".trtui"
)

// since has the tables that a version added; those of version 1 are not in it. A reader takes older files.
var since = map[string]uint32{"telemetry": 2, "unfinished": 3, "shown": 4}

//go:embed recording.sql
var tables string

//go:embed version3.sql
var tables3 string

// version3 has the columns that snapshots had in versions 1 to 3 in place of the table shown: one for each report.
var version3 = []string{"model", "passes", "overview", "timings", "memory", "calibration", "accuracy", "tactics"}

// The bounds on what a recording holds. The reader refuses what the writer does not write.
const (
	maxPages            = 1 << 18 // of pageBytes: 1 GiB
	pageBytes           = 4 << 10
	maxReportBytes      = 64 << 20 // of a report's JSON
	maxReportElements   = 1 << 20  // of all arrays in it
	maxStateBytes       = 1 << 20
	maxConfigs          = 1000
	maxParts            = 1000 // of a snapshot
	maxStates           = 100_000
	maxRunsPerConfig    = 20_000
	maxSamplesPerConfig = 400_000 // of layers; runs behind that are recorded as a whole only
	maxLogLines         = 1000    // in a snapshot
	maxTelemetry        = 200_000 // more than two days
)

// state is what a snapshot has beside its reports and its log.
type state struct {
	Seq    int
	Schema int
	Config config.Config
	Device report.Device
	Stale  report.Parts

	Preview report.Parts     `json:",omitempty"`
	Busy    *report.Progress `json:",omitempty"`
	Err     string           `json:",omitempty"`

	Telemetry *report.Telemetry `json:",omitempty"`
}

// reportTables returns the statements that make the tables of all parts.
func reportTables() string {
	var all strings.Builder
	for _, k := range report.Kinds() {
		all.WriteString(k.Tables)
	}
	return all.String()
}
