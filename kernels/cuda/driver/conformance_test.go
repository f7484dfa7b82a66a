package driver_test

import (
	"testing"

	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/driver/drivertest"
)

// TestDevice runs the conformance tests on the first GPU of this machine.
func TestDevice(t *testing.T) {
	devices, err := driver.Probe()
	if err != nil {
		t.Skip(err)
	}
	t.Log(devices[0])
	c, err := driver.Open(devices[0].Ordinal)
	if err != nil {
		t.Fatal(err)
	}
	drivertest.Conformance(t, c, true)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	monitor, err := driver.OpenMonitor(devices[0].PCI)
	if err != nil {
		t.Skip(err)
	}
	t.Logf("%+v", monitor.Read())
	if err := monitor.Close(); err != nil {
		t.Fatal(err)
	}
}
