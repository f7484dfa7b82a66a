// Command gpudoc writes docs/gpu.md from the results that scripts/gpu.sh left under results/gpu.
//
//	go run ./scripts/gpudoc [-root DIR]
//
// The same results give the same bytes. What was measured in several runs is shown from the newest, and where that is not
// the device's newest run, with its commit; what was never measured is called so.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", ".", "root of the repository")
	flag.Parse()
	page, err := generate(*root)
	if err == nil {
		err = os.WriteFile(filepath.Join(*root, "docs", "gpu.md"), page, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gpudoc:", err)
		os.Exit(1)
	}
}

// generate reads the cases and results under root and returns the page.
func generate(root string) ([]byte, error) {
	cases, err := readCases(filepath.Join(root, "bench", "peers", "gpu_cases.txt"))
	if err != nil {
		return nil, err
	}
	devices, err := readDevices(filepath.Join(root, "results", "gpu"))
	if err != nil {
		return nil, err
	}
	return page(cases, devices), nil
}
