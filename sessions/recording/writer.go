package recording

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"strings"

	"github.com/trtui/trtui/sessions/report"
)

// writer holds the open file of a recorder and what it needs to remember of what it wrote. Only the recorder's
// goroutine uses it.
type writer struct {
	db    *sql.DB
	conn  *sql.Conn
	stmts map[string]*sql.Stmt

	configs map[string]*writtenConfig
	reports map[[sha256.Size]byte]int64 // rows of reports by the hash of part and JSON
	hashes  map[int64][sha256.Size]byte
	uses    map[int64]int   // snapshots that refer to a report
	newest  []writtenReport // of each part
	last    *writtenSnapshot
	model   string // the hash of the model in the session's row
	line    report.LogLine
	lines   int64 // rows of the log
	states  int   // rows of telemetry
}

// writtenConfig is a configuration with a row.
type writtenConfig struct {
	id      int64
	runs    int
	samples int
	tables  []int64 // the report from which each part's tables were filled
	settled bool
	err     string
}

// writtenReport is the report of a part that was written last: the pointer tells whether it is a new one.
type writtenReport struct {
	report any
	id     int64
}

// writtenSnapshot is the newest row of snapshots.
type writtenSnapshot struct {
	seq    int
	config int64
	stale  report.Parts
	done   bool
	ids    []int64 // of each part's report, 0 for none
}

func newWriter(db *sql.DB, conn *sql.Conn) *writer {
	return &writer{
		db: db, conn: conn, stmts: map[string]*sql.Stmt{}, configs: map[string]*writtenConfig{},
		reports: map[[sha256.Size]byte]int64{}, hashes: map[int64][sha256.Size]byte{}, uses: map[int64]int{}, newest: make([]writtenReport, len(report.Kinds())),
	}
}

func (w *writer) close() error {
	for _, s := range w.stmts {
		s.Close()
	}
	w.conn.Close()
	return w.db.Close()
}

// exec runs a statement, which is prepared once.
func (w *writer) exec(query string, args ...any) error {
	s := w.stmts[query]
	if s == nil {
		var err error
		if s, err = w.conn.PrepareContext(context.Background(), query); err != nil {
			return err
		}
		w.stmts[query] = s
	}
	_, err := s.ExecContext(context.Background(), args...)
	return err
}

// insert adds a row: one value for each column of the table, in order.
func (w *writer) insert(table string, values ...any) error {
	return w.exec("INSERT INTO "+table+" VALUES (?"+strings.Repeat(",?", len(values)-1)+")", values...)
}
