package recording

import (
	"regexp"

	"github.com/trtui/trtui/sessions/report"
)

// describe fills in the session's row, once the model is known, and again if it changes.
func (w *writer) describe(s *report.Snapshot) error {
	m, d := s.Model, s.Device
	if m == nil || w.model == m.SHA256+m.Path {
		return nil
	}
	w.model = m.SHA256 + m.Path
	return w.exec(`UPDATE session SET model = ?, model_path = ?, model_kind = ?, model_bytes = ?, model_sha256 = ?,
		data = ?, data_items = ?, data_labelled = ?, data_random = ?, calibration_items = ?,
		backend = ?, device = ?, threads = ?, fingerprint = ?, estimated = ?`,
		m.Name, m.Path, m.Kind, m.Bytes, m.SHA256, m.Data, m.Items, m.Labelled, m.Random, m.CalItems,
		d.Backend, d.Device, d.Threads, d.Fingerprint, d.Estimated)
}

// tableNames returns the names of the tables of a part.
func tableNames(k report.Kind) (names []string) {
	for _, m := range created.FindAllStringSubmatch(k.Tables, -1) {
		names = append(names, m[1])
	}
	return names
}

var created = regexp.MustCompile(`(?m)^CREATE TABLE (\w+)`)

// fill makes a configuration's tables of one part anew.
func (w *writer) fill(config int64, part report.Kind, s *report.Snapshot) error {
	for _, name := range tableNames(part) {
		if err := w.exec("DELETE FROM "+name+" WHERE config = ?", config); err != nil {
			return err
		}
	}
	if part.Rows == nil {
		return nil
	}
	return part.Rows(s, func(table string, values ...any) error {
		return w.insert(table, append([]any{config}, values...)...)
	})
}
