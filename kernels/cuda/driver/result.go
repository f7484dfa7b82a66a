package driver

import (
	"fmt"
	"strings"
)

// Result is a CUresult: 0 is success.
type Result int32

// Results that callers and tests name. results (results.go) has all of them.
const (
	Success             Result = 0
	InvalidValue        Result = 1
	OutOfMemory         Result = 2
	NotInitialized      Result = 3
	Deinitialized       Result = 4
	NoDevice            Result = 100
	InvalidDevice       Result = 101
	InvalidImage        Result = 200
	InvalidContext      Result = 201
	NoBinaryForGPU      Result = 209
	ECCUncorrectable    Result = 214
	InvalidPTX          Result = 218
	JITCompilerNotFound Result = 221
	UnsupportedPTX      Result = 222
	InvalidHandle       Result = 400
	NotFound            Result = 500
	NotReady            Result = 600
	IllegalAddress      Result = 700
	LaunchOutOfResource Result = 701
	LaunchTimeout       Result = 702
	IllegalInstruction  Result = 715
	MisalignedAddress   Result = 716
	LaunchFailed        Result = 719
	NotSupported        Result = 801
	CaptureInvalidated  Result = 901
	GraphUpdateFailure  Result = 910
	Unknown             Result = 999
)

// Error is a call that the driver refused, or one that found out about the failure of earlier work.
type Error struct {
	Call   string // the driver's function, such as cuMemAlloc_v2
	Result Result
	Text   string // the driver's own description of a result that the table does not have
	Detail string // what was asked for: sizes, names
	Log    string // the compiler's error log
}

// Error names the call, what was asked for, the result, and what to do where that is known.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Call)
	if e.Detail != "" {
		fmt.Fprintf(&b, " (%s)", e.Detail)
	}
	r := results[e.Result]
	name, text := r.name, r.text
	if name == "" {
		name = "unnamed result"
	}
	if text == "" {
		text = e.Text
	}
	if text == "" {
		text = "failed"
	}
	fmt.Fprintf(&b, ": %s (%s, %d)", text, name, int(e.Result))
	if log := strings.TrimSpace(e.Log); log != "" {
		fmt.Fprintf(&b, "\n%s", log)
	}
	return b.String()
}

// Is makes errors.Is(err, &Error{Result: r}) true for every call that ended so.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Result == e.Result && (t.Call == "" || t.Call == e.Call)
}

// OutOfMemory tells whether there was too little device or host memory: nothing else is wrong with the context.
func (e *Error) OutOfMemory() bool { return e.Result == OutOfMemory }

// Sticky tells whether the context is beyond use: every later call fails too. Close it and open a new one.
func (e *Error) Sticky() bool { return results[e.Result].sticky }

// Name is the driver's name of a result, such as CUDA_ERROR_OUT_OF_MEMORY.
func (r Result) Name() string { return results[r].name }

func (r Result) String() string {
	if n := r.Name(); n != "" {
		return n
	}
	return fmt.Sprintf("CUresult(%d)", int(r))
}
