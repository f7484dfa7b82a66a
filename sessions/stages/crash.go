package stages

import (
	"fmt"
	"runtime/debug"
	"strings"
)

// Crash is the error that a panic becomes: one in the program, whatever the model is.
type Crash struct {
	Value any
	Stack []byte
}

// Crashed returns the error of a value that was recovered.
func Crashed(value any) *Crash { return &Crash{value, debug.Stack()} }

// Error tells the lines.
func (e *Crash) Error() string { return strings.Join(e.Lines(), "\n") }

// Lines returns what happened, and below it where.
func (e *Crash) Lines() []string {
	return append([]string{fmt.Sprintf("internal error: %v", e.Value)}, strings.Split(strings.ReplaceAll(string(e.Stack), "\t", "    "), "\n")...)
}
