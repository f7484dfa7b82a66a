package report_test

import (
	"fmt"
	"log"
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// A comparison of two times says whether it could be noise.
func ExampleNewSpeed() {
	for _, s := range []report.Speed{report.NewSpeed(1.9, 1.8, 2.0, true), report.NewSpeed(1.04, 0.97, 1.11, true), report.ExactSpeed(3*time.Millisecond, 2*time.Millisecond)} {
		fmt.Printf("%.2f %t\n", s.Ratio, s.Significant)
	}
	// Output:
	// 1.90 true
	// 1.04 false
	// 1.50 true
}

// Reports are data; what a command prints with --format json is made of them in one place.
func ExampleMarshalOutput() {
	out, err := report.MarshalOutput(&report.Generation{Prompt: "Once", PromptTokens: 1, Text: "Once upon", Tokens: []int{7}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(out) > 0)
	// Output:
	// true
}
