package work

// CallSteps bounds the multiply-adds of 16 lanes in one call of a kernel: about 100 microseconds.
const CallSteps = 1 << 19

// Evenly lowers the part size so that the parts of total are nearly equal.
func Evenly(total, part int) int {
	parts := (total + part - 1) / part
	return (total + parts - 1) / parts
}

// RoundUp64 returns the multiple of a cache line that is not less than n.
func RoundUp64(n int) int { return (n + 63) &^ 63 }

// RoundUp16 returns the multiple of a block of channels, or of a step of bytes, that is not less than n.
func RoundUp16(n int) int { return (n + 15) &^ 15 }

// CeilDiv returns the quotient of positive numbers, rounded up.
func CeilDiv(a, b int) int { return (a + b - 1) / b }
