// Package sessions is the workbench without a screen.
//
// A [Session] holds one opened model and one [Config]. Setting another configuration re-runs, in the background, the
// stages that depend on what changed, and publishes a new [Snapshot] as each stage ends. A snapshot is made of reports:
// plain data, one for each screen. The screens draw reports, the commands print them as text or JSON, a recording
// stores them and a replay shows them again without the model: all four from the same types. Start with report.go.
package sessions
