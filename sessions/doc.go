// Package sessions is the workbench without a screen.
//
// A [Session] holds one opened model and one [config.Config]. Setting another configuration re-runs, in the background, the
// stages that depend on what changed, and publishes a new [report.Snapshot] as each stage ends; a [Runner] makes one when it is
// asked. Start with loop.go and runner.go, which ask [stages.Stages] for the work.
package sessions
