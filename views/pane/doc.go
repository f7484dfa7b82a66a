// Package pane holds what panes are made of and share: the desk that they ask, the snapshot that they draw, the layer under the cursor,
// what can be compared, and the precisions that layers are set to. It knows no screen. Start with pane.go.
package pane
