// Package views holds the workbench: the one place that lists the screens, each of which is a package below this one.
//
// Everything that a pane shows comes from a [report.Snapshot], which never changes: a newer one takes its place. A
// pane keeps only where its cursor is, how it sorts and what it toggles. What a person changes, a pane asks of its desk
// ([pane.Desk]), as an edit of the [config.Config]; behind that the workbench passes it on to the [Controller], which is a
// session or a replay of a recording. Panes hold what they need as fields, the pane whose cursor they follow included,
// and none knows of the workbench. Start with pane/pane.go and any screen, then workbench.go; start.go connects them.
package views
