// Package panetest holds a settled snapshot, replays and a desk to draw panes with; for tests.
package panetest
