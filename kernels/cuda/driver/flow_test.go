//go:build linux && (amd64 || arm64) && !nocuda

package driver_test

import (
	"testing"

	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/driver/drivertest"
)

// TestStub runs the conformance tests, the work of kernels aside, on the stub library.
func TestStub(t *testing.T) {
	driver.UseStub(t)
	c, err := driver.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	drivertest.Conformance(t, c, false)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}
