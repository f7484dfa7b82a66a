package compare_test

import (
	"fmt"
	"time"

	"github.com/trtui/trtui/sessions/compare"
)

// Two configurations that were measured in the same rounds: a machine that slows down slows both, and their ratio stays.
func ExamplePairedSpeed() {
	var fp32, int8, again []time.Duration
	for round := range 40 {
		slow := time.Duration(round%5) * time.Millisecond
		fp32 = append(fp32, 10*time.Millisecond+slow)
		int8 = append(int8, 5*time.Millisecond+slow/2)
		again = append(again, 10*time.Millisecond+slow+time.Duration(round%3-1)*20*time.Microsecond)
	}
	faster, same := compare.PairedSpeed(fp32, int8), compare.PairedSpeed(fp32, again)
	fmt.Printf("%.2f times as fast: %t\n", faster.Ratio, faster.Significant)
	fmt.Printf("%.2f times as fast: %t\n", same.Ratio, same.Significant)
	// Output:
	// 2.00 times as fast: true
	// 1.00 times as fast: false
}
