package simulator

import (
	"errors"
	"fmt"

	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/internal/ptxsim"
)

// failure is why a context is lost: work went wrong after the call that enqueued it, or a call did what leaves a device's
// behaviour undefined.
type failure struct {
	call   string // of the error; of a reason, the call that is undefined
	result driver.Result
	cause  error
}

// lose makes every later call fail; the first reason counts.
func (s *Context) lose(f *failure) {
	if s.lost == nil {
		s.lost = f
	}
	s.changed.Broadcast()
}

// misuse is lose for a call whose outcome a driver does not define. It returns the call's error.
func (s *Context) misuse(call, format string, args ...any) error {
	s.lose(&failure{call, driver.Unknown, fmt.Errorf("%s is undefined here: %s", call, fmt.Sprintf(format, args...))})
	return s.lost.of(call)
}

// of is the failure as a call's error.
func (f *failure) of(call string) error {
	g := &failure{call, f.result, f.cause}
	if f.call != "" && f.call != call {
		g.cause = fmt.Errorf("%s: %w", call, f.cause)
	}
	return g
}

func (f *failure) driverError() *driver.Error {
	return &driver.Error{Call: f.call, Result: f.result, Detail: f.cause.Error()}
}

// Error is the driver's, with what went wrong and where.
func (f *failure) Error() string {
	if f.result == driver.Unknown {
		return f.cause.Error() + "; the device's context is lost"
	}
	return f.driverError().Error()
}

// Unwrap makes it the driver's error and the cause, which may be a *ptxsim.Fault.
func (f *failure) Unwrap() []error { return []error{f.driverError(), f.cause} }

// resultOf is what a GPU makes of an error of work. What a GPU does not notice is a failed launch, too.
func resultOf(err error) driver.Result {
	var e *driver.Error
	var f *ptxsim.Fault
	switch {
	case errors.As(err, &e) && e.Sticky():
		return e.Result
	case !errors.As(err, &f):
		return driver.LaunchFailed
	case f.Kind == ptxsim.OutOfBounds:
		return driver.IllegalAddress
	case f.Kind == ptxsim.Misaligned:
		return driver.MisalignedAddress
	case f.Kind == ptxsim.Budget:
		return driver.LaunchTimeout
	}
	return driver.LaunchFailed
}
