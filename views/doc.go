// Package views holds the panes of the workbench, one file a screen, and the workbench itself.
//
// Everything that a pane shows comes from a [report.Snapshot], which never changes: a newer one takes its place. A
// pane keeps only where its cursor is, how it sorts and what it toggles. What a person changes goes as a new
// [config.Config] to the [Controller], which is a session or a replay of a recording. Start with workbench.go, then
// pane.go for what all panes have in common, then any screen.
package views
