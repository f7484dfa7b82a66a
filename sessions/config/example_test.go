package config_test

import (
	"fmt"

	"github.com/trtui/trtui/sessions/config"
)

// What a person toggles, what it is called, and what of it counts.
func Example() {
	c := config.Config{Precision: config.INT8, Calibrator: "mse", Batch: 1}
	c.SetLayerPrecision("Conv_3", config.FP32)
	c.FlipDisabled("fuse-activation")
	fmt.Println(c.Label(false))

	other := c.Clone()
	other.Precision, other.LayerPrecisions = config.FP32, nil
	fmt.Println(other.Label(false))
	other.Calibrator = "entropy" // has no say in FP32
	plain := config.Config{Precision: config.FP32, Batch: 1, Disable: []string{"fuse-activation"}}
	fmt.Println(other.SameEngine(plain, false), c.SameEngine(plain, false))

	c.Precision = "int9"
	fmt.Println(c.Check())
	// Output:
	// int8/mse, 1 layer in fp32, fuse-activation off
	// fp32, fuse-activation off
	// true false
	// precision "int9": want fp32, fp16 or int8
}
