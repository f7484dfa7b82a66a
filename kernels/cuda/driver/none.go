//go:build !linux || !(amd64 || arm64) || nocuda

package driver

import (
	"errors"
	"fmt"
	"runtime"
)

// Open fails: this build leaves CUDA out.
func Open(int) (Context, error) { return nil, errNone() }

// Probe fails: this build leaves CUDA out.
func Probe() ([]Device, error) { return nil, errNone() }

// Monitor is not to be had in this build.
type Monitor struct{}

// OpenMonitor fails: this build leaves NVML out.
func OpenMonitor(string) (*Monitor, error) { return nil, errNone() }

// Close does nothing.
func (*Monitor) Close() error { return nil }

// Read reads nothing.
func (*Monitor) Read() Reading { return Reading{Missing: []string{"everything: " + errNone().Error()}} }

func errNone() error {
	if runtime.GOOS == "linux" && (runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64") {
		return errors.New("no CUDA: this program was built with the tag nocuda; build it without to use an NVIDIA GPU")
	}
	return fmt.Errorf("no CUDA: it is used on Linux on amd64 and arm64 for now, and this is %s on %s", runtime.GOOS, runtime.GOARCH)
}
