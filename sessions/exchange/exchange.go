// Package exchange reads and writes the files of other tools, one kind a file here. What it reads becomes the reports of
// sessions/report, and what it writes is made of them, so it needs neither a model nor a device. Readers take bytes that are
// bounded by their caller, [Limit] at most, and their errors name the line or the field that is wrong.
package exchange

import "fmt"

// Limit is how many bytes of a file are read.
const Limit = 256 << 20

// quoted writes a name of somebody else's file in an error, shortened where it is long.
func quoted(name string) string {
	const most = 120
	if len(name) > most {
		name = name[:most] + "…"
	}
	return fmt.Sprintf("%q", name)
}
