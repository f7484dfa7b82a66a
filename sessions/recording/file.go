package recording

import (
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"modernc.org/sqlite"

	"github.com/trtui/trtui/internal/host"
)

// file is a recording that is open for reading.
type file struct {
	path    string
	version uint32 // of its tables, at most Version
	db      *sql.DB
	conn    *sql.Conn
	lock    *os.File // see isHeld; it is open for as long as the database, whose locks go with the first file of theirs that is closed
}

// readTimeout ends a query on a file that was made to keep the reader busy.
const readTimeout = 20 * time.Second

// sqliteLimitLength is SQLITE_LIMIT_LENGTH: the most bytes that a value or a row may have.
const sqliteLimitLength = 0

// openFile opens a recording. A file that is none, one of a newer program and one that is damaged each give an
// error that says so.
func openFile(path string) (*file, error) {
	version, err := checkHeader(path)
	if err != nil {
		return nil, fmt.Errorf("recording %s: %w", path, err)
	}
	lock, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("recording %s: %w", path, err)
	}
	// A write that was interrupted left a journal, which only a writer may undo. One that is under way has a journal, too: nobody else
	// may undo that, and SQLite's own locks do not say it of a process that has closed the file once, as one that lists recordings does.
	mode := "ro"
	if j, err := os.Stat(path + "-journal"); err == nil && j.Size() > 0 && !isHeld(lock) {
		mode = "rw"
	}
	uri, err := sqliteURI(path, url.Values{"mode": {mode}, "_pragma": {
		"busy_timeout(5000)", "trusted_schema(off)", "cell_size_check(on)", "mmap_size(0)",
	}})
	if err != nil {
		lock.Close()
		return nil, err
	}
	db, err := sql.Open("sqlite", uri)
	if err != nil {
		lock.Close()
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	f := &file{path: path, version: version, db: db, lock: lock}
	if f.conn, err = db.Conn(ctx); err == nil {
		err = f.check(ctx)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("recording %s: %w", path, damaged(err))
	}
	return f, nil
}

func (f *file) Close() error {
	if f.conn != nil {
		f.conn.Close()
	}
	defer f.lock.Close()
	return f.db.Close()
}

// ErrNotRecording is the reason why a file is not shown.
var ErrNotRecording = errors.New("not a recording of trtui")

// otherThing is an [ErrNotRecording] that says what there is in place of a recording.
type otherThing string

func (t otherThing) Error() string        { return string(t) }
func (t otherThing) Is(target error) bool { return target == ErrNotRecording }

// checkHeader looks at the first bytes before anything else does, and returns the version of the tables.
func checkHeader(path string) (version uint32, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, errors.Unwrap(err)
	}
	if !info.Mode().IsRegular() {
		return 0, otherThing("not a file")
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, errors.Unwrap(err)
	}
	defer f.Close()
	head := make([]byte, host.RecordingHead)
	switch _, err := io.ReadFull(f, head); {
	case info.Size() == 0 && filepath.Ext(path) != Extension:
		return 0, otherThing("the file is empty")
	case info.Size() == 0:
		return 0, errors.New("the file is empty: it was cut short before anything was written")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return 0, ErrNotRecording
	case err != nil:
		return 0, errors.Unwrap(err)
	}
	if !host.IsRecording(head) {
		return 0, ErrNotRecording
	}
	if version = binary.BigEndian.Uint32(head[60:]); version < 1 || version > Version {
		return 0, fmt.Errorf("it has version %d, this program reads versions 1 to %d; use the program that wrote it", version, Version)
	}
	pages := int64(binary.BigEndian.Uint32(head[28:]))
	size := int64(binary.BigEndian.Uint16(head[16:]))
	if size == 1 {
		size = 1 << 16
	}
	if want := pages * size; info.Size() < want {
		return 0, fmt.Errorf("the file is truncated: it has %d bytes of %d; copy it again", info.Size(), want)
	}
	return version, nil
}

// damaged explains an error of the database.
func damaged(err error) error {
	const corrupt, notADB, readOnly, cantOpen = 11, 26, 8, 14
	switch sqliteCode(err) {
	case corrupt, notADB:
		return fmt.Errorf("the file is damaged: %w", err)
	case readOnly, cantOpen:
		return fmt.Errorf("its last write was interrupted, and undoing that needs write access to the file and its folder: %w", err)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.New("the file is damaged: reading it takes too long")
	}
	return err
}

// check makes sure that the tables are those that this program writes: so a query reads a table of this shape and
// nothing else, whatever the file.
func (f *file) check(ctx context.Context) error {
	if _, err := sqlite.Limit(f.conn, sqliteLimitLength, maxReportBytes); err != nil {
		return err
	}
	got, err := tableTexts(ctx, f.conn)
	if err != nil {
		return err
	}
	core, optional, err := f.expected(ctx)
	if err != nil {
		return err
	}
	for _, t := range core {
		if !slices.Contains(got, t) && f.version >= since[nameOf(t)] {
			return f.altered()
		}
	}
	for _, t := range optional { // a program that had not this part made none of its tables
		named := func(other string) bool { return nameOf(other) == nameOf(t) }
		if !slices.Contains(got, t) && slices.ContainsFunc(got, named) {
			return f.altered()
		}
	}
	if f.version < since["shown"] {
		return f.showAsNow(ctx)
	}
	return nil
}

// altered is the error of tables that no program made.
func (f *file) altered() error {
	return fmt.Errorf("the file is damaged or was altered: its tables are not those of version %d", f.version)
}

// nameOf returns the name in a statement of tableTexts.
func nameOf(text string) string { return strings.Fields(text)[1] }

// showAsNow lets an older file be read as one of this version: for this connection it has the table that came later.
func (f *file) showAsNow(ctx context.Context) error {
	var columns []string
	for _, c := range version3 {
		columns = append(columns, fmt.Sprintf("SELECT seq, '%s' AS part, %s AS report FROM main.snapshots WHERE %s IS NOT NULL", c, c, c))
	}
	_, err := f.conn.ExecContext(ctx, "CREATE TEMP VIEW shown AS "+strings.Join(columns, " UNION ALL "))
	return err
}

// expected returns the statements that make the tables of the file's version: those that it must have, and those that it has
// if its writer had the part that they are of.
func (f *file) expected(ctx context.Context) (core, optional []string, err error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	statements := tables
	if f.version < since["shown"] {
		statements += "DROP TABLE shown; DROP TABLE snapshots; DROP TABLE reports;" + tables3
	}
	if _, err := db.ExecContext(ctx, statements); err != nil {
		return nil, nil, err
	}
	if core, err = tableTexts(ctx, db); err != nil {
		return nil, nil, err
	}
	if _, err := db.ExecContext(ctx, reportTables()); err != nil {
		return nil, nil, err
	}
	all, err := tableTexts(ctx, db)
	optional = slices.DeleteFunc(all, func(t string) bool { return slices.Contains(core, t) })
	return core, optional, err
}

// tableTexts returns the statements that made a database's tables, views and the like.
func tableTexts(ctx context.Context, db interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}) ([]string, error) {
	rows, err := db.QueryContext(ctx, "SELECT type || ' ' || name || ' ' || coalesce(substr(sql, 1, 10000), '') FROM sqlite_schema ORDER BY 1 LIMIT 200")
	if err != nil {
		return nil, err
	}
	return scanAll(rows, func(scan func(...any) error) (s string, err error) {
		err = scan(&s)
		return s, err
	})
}

// scanAll reads all rows.
func scanAll[T any](rows *sql.Rows, one func(scan func(...any) error) (T, error)) ([]T, error) {
	defer rows.Close()
	var list []T
	for rows.Next() {
		v, err := one(rows.Scan)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, rows.Err()
}

// decodeReport reads a report, whose compressed form comes from the file.
func decodeReport(packed []byte, report any) error {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(z, maxReportBytes+1))
	if err != nil {
		return err
	}
	if err := checkReport(text); err != nil {
		return err
	}
	return json.Unmarshal(text, report)
}

// checkReport bounds the memory that a report's JSON can take when it is read: its size, and the elements of its arrays,
// each of which may be a few bytes in the text and a few hundred in memory.
func checkReport(text []byte) error {
	if len(text) > maxReportBytes {
		return fmt.Errorf("it is larger than %d bytes", maxReportBytes)
	}
	elements := 0
	var arrays []bool // for each open bracket, whether it is an array's
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			arrays = append(arrays, c == '[')
			elements++
		case c == ']' || c == '}':
			arrays = arrays[:max(0, len(arrays)-1)]
		case c == ',' && len(arrays) > 0 && arrays[len(arrays)-1]:
			elements++
		}
	}
	if elements > maxReportElements {
		return fmt.Errorf("it has more than %d elements", maxReportElements)
	}
	return nil
}
