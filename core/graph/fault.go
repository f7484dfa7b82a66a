package graph

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// Fault is a panic in code that computes or describes layers: a defect of the program, which reaches its user as an error.
type Fault struct {
	Value any    // of the panic
	At    string // file and line of the function that panicked, or whose instruction faulted
	Stack []byte
}

func (f *Fault) Error() string { return fmt.Sprintf("internal error: %v (at %s)", f.Value, f.At) }

// NewFault returns the fault of a panic's value, which a deferred function has recovered. A fault, or an error that wraps
// one, stays what it is: it was raised again.
func NewFault(v any) error {
	if err, ok := v.(error); ok && errors.As(err, new(*Fault)) {
		return err
	}
	return &Fault{Value: v, At: faultAt(), Stack: debug.Stack()}
}

// CatchFault, deferred, sets err to the fault where the function panics.
func CatchFault(err *error) {
	if v := recover(); v != nil {
		*err = NewFault(v)
	}
}

// faultAt returns where the panic that is being recovered began.
func faultAt() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	panicking := false
	for {
		f, more := frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			panicking = true
		case panicking && !strings.HasPrefix(f.Function, "runtime."):
			return fmt.Sprintf("%s:%d", f.File, f.Line)
		}
		if !more {
			return "an unknown place"
		}
	}
}
