package simulator_test

import (
	"fmt"
	"log"

	"github.com/trtui/trtui/kernels/cuda/simulator"
)

// A simulated device keeps what a driver keeps: memory that was given back is not there any more.
func ExampleNew() {
	c := simulator.New(simulator.Device(), simulator.Options{})
	defer c.Close()
	stream, err := c.StreamCreate(0)
	if err != nil {
		log.Fatal(err)
	}
	host, err := c.MemHostAlloc(4)
	if err != nil {
		log.Fatal(err)
	}
	p, err := c.MemAlloc(4)
	if err != nil {
		log.Fatal(err)
	}
	copy(host, "GPU?")
	if err := c.MemcpyHtoDAsync(p, host, stream); err != nil {
		log.Fatal(err)
	}
	if err := c.MemFree(p); err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.MemcpyHtoDAsync(p, host, stream) != nil)
	// Output:
	// true
}
