package bringup_test

import (
	"context"
	"fmt"
	"log"

	"github.com/trtui/trtui/kernels/cuda"
	"github.com/trtui/trtui/kernels/cuda/bringup"
)

// One step of finding out what a device reaches. Times of a simulated one are a model's.
func ExampleRun() {
	step := bringup.Steps()[0]
	ok := true
	err := bringup.Run(context.Background(), cuda.OpenSimulator, []string{step}, func(f bringup.Finding) {
		ok = ok && f.OK
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(step, ok)
	// Output:
	// device true
}
