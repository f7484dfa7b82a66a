package driver_test

import (
	"fmt"

	"github.com/trtui/trtui/kernels/cuda/driver"
)

// The devices there are, or why there are none: no library, no device, a driver too old.
func ExampleProbe() {
	devices, err := driver.Probe()
	if err != nil {
		fmt.Println(err)
	}
	for _, d := range devices {
		fmt.Println(d.Name)
	}
}
