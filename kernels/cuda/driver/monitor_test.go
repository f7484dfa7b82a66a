//go:build linux && (amd64 || arm64) && !nocuda

package driver

import (
	"reflect"
	"strings"
	"testing"

	"github.com/ebitengine/purego"
)

func TestMonitor(t *testing.T) {
	path := build(t, "nvml.c")
	t.Setenv("TRTUI_LIBNVML", path)
	m, err := OpenMonitor("0000:0a:00.0")
	if err != nil {
		t.Fatal(err)
	}
	want := Reading{ClockMHz: 1755, MemoryClockMHz: 3201, MemoryUsed: 50 << 30, MemoryTotal: 150 << 30, Watts: 312.5, Celsius: 61,
		BusyPercent: 97, MemoryBusyPercent: 41, Throttled: []string{"power cap", "software thermal slowdown"}}
	got := m.Read()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if line := "1755 MHz  50.0 of 150 GiB  312 W  61 °C  power cap, software thermal slowdown"; got.String() != line {
		t.Errorf("got %q", got)
	}
	t.Setenv("STUB_NVML", "nvmlDeviceGetPowerUsage=3")
	if got := m.Read(); got.Watts != 0 || !reflect.DeepEqual(got.Missing, []string{"power: not supported by this device (3)"}) {
		t.Errorf("without power: %+v", got)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

func TestMonitorErrors(t *testing.T) {
	path := build(t, "nvml.c")
	for _, c := range []struct{ name, lib, stub, pci, want string }{
		{"no library", "/nonexistent/libnvidia-ml.so", "", "0000:0a:00.0", "no NVML: TRTUI_LIBNVML: /nonexistent"},
		{"no driver", path, "nvmlInit_v2=9", "0000:0a:00.0", "no NVML: the driver is not loaded (9)"},
		{"versions", path, "nvmlInit_v2=18", "0000:0a:00.0", "differ in version: reboot (18)"},
		{"rare", path, "nvmlInit_v2=77", "0000:0a:00.0", "NVML result 77"},
		{"other device", path, "", "0000:0b:00.0", "no NVML for device 0000:0b:00.0: not found (6)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("TRTUI_LIBNVML", c.lib)
			t.Setenv("STUB_NVML", c.stub)
			if _, err := OpenMonitor(c.pci); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	handle, err := purego.Dlopen(path, purego.RTLD_NOW)
	if err != nil {
		t.Fatal(err)
	}
	var users func() int32
	purego.RegisterLibFunc(&users, handle, "stub_users")
	if n := users(); n != 0 {
		t.Errorf("NVML is in use %d times", n)
	}
}

// TestThrottleWords compares the bits with those that nvml.h documents.
func TestThrottleWords(t *testing.T) {
	for bit, want := range map[uint64]string{
		0x1: "idle", 0x2: "application clocks", 0x4: "power cap", 0x8: "hardware slowdown", 0x10: "sync boost",
		0x20: "software thermal slowdown", 0x40: "hardware thermal slowdown", 0x80: "power brake", 0x100: "display clocks",
		0x200: "board limit", 0x400: "reliability", 0x800: "reason 0x800",
	} {
		if got := throttleWords(bit); len(got) != 1 || got[0] != want {
			t.Errorf("%#x: %q, want %q", bit, got, want)
		}
	}
}

// TestMonitorRenamed has a library with the throttle reasons under their new name alone.
func TestMonitorRenamed(t *testing.T) {
	t.Setenv("TRTUI_LIBNVML", build(t, "nvml.c", "-DNEW"))
	m, err := OpenMonitor("0000:0a:00.0")
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Read(); !reflect.DeepEqual(got.Throttled, []string{"hardware thermal slowdown", "reason 0x10000000000"}) {
		t.Errorf("got %+v", got)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}
