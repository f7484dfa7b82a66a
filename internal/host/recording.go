package host

import (
	"bytes"
	"encoding/binary"
)

// RecordingID marks a file of SQLite as a recording: "TRTU", in PRAGMA application_id.
const RecordingID = 0x54525455

// RecordingHead is the number of bytes, at the beginning of a file of SQLite, that say what it is.
const RecordingHead = 100

// IsRecording reports whether a file that begins with head, of [RecordingHead] bytes, is a recording, of whatever version and whether
// or not it is whole.
func IsRecording(head []byte) bool {
	return len(head) >= RecordingHead && bytes.HasPrefix(head, []byte("SQLite format 3\x00")) && binary.BigEndian.Uint32(head[68:]) == RecordingID
}
