package pane

import "github.com/trtui/trtui/sessions/report"

// Mark is something that can be compared: what it is called, and how to get what is known of it, which may take a while.
type Mark struct {
	Name string
	Read func() (*report.Snapshot, error)
	// Rival is what it was measured beside, in the same rounds; nil: nothing.
	Rival *report.Snapshot
}

// Marker is a pane under whose cursor is something that can be compared.
type Marker interface {
	// Mark returns it; ok is false where there is nothing under the cursor.
	Mark() (m Mark, ok bool)
}

// Marked returns what stands behind the name of a [Mark] that is marked, as " (A)", and "" for others.
type Marked func(name string) string
