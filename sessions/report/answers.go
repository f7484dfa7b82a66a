package report

import (
	"bytes"
	"fmt"
	"math"
	"slices"
)

// Answers are which labelled items, or tokens of texts, an engine and FP32 are right on: sets of bits, the lowest of a byte first.
type Answers struct {
	Count int
	Right []byte
	FP32  []byte
}

// Add notes whether the next one is right.
func (a *Answers) Add(right, fp32 bool) {
	if a.Count%8 == 0 {
		a.Right, a.FP32 = append(a.Right, 0), append(a.FP32, 0)
	}
	if right {
		a.Right[a.Count/8] |= 1 << (a.Count % 8)
	}
	if fp32 {
		a.FP32[a.Count/8] |= 1 << (a.Count % 8)
	}
	a.Count++
}

// Sign is what items say of which of two engines is right more often: only those count on which one is right and the other is not.
type Sign struct {
	Items      int     // of which the engines were asked
	OnlyHere   int     // that this engine alone is right on
	OnlyBeside int     // that the other alone is right on
	P          float64 // the chance of so large a difference, or a larger one, where both are as good
}

// leastChance is the chance under which a difference is one.
const leastChance = 0.05

// Apart reports whether the two can be told apart.
func (s Sign) Apart() bool { return s.P < leastChance }

// String says what came of it, but for of what.
func (s Sign) String() string {
	if s.Apart() {
		return fmt.Sprintf("are told apart on %d items: right alone on %d and %d, p %.2g", s.Items, s.OnlyHere, s.OnlyBeside, s.P)
	}
	return fmt.Sprintf("cannot be told apart on %d items: right alone on %d and %d, p %.2g", s.Items, s.OnlyHere, s.OnlyBeside, s.P)
}

// BesideFP32 compares with FP32; nil where no labels are known.
func (a *Answers) BesideFP32() *Sign {
	if a == nil || !a.whole() {
		return nil
	}
	s := signOf(a.Right, a.FP32, a.Count)
	return &s
}

// Beside compares with what another engine answered; nil where that was not on the same items, which shows in what FP32 is right on.
func (a *Answers) Beside(b *Answers) *Sign {
	if a == nil || b == nil || !a.whole() || !b.whole() || a.Count != b.Count || !bytes.Equal(a.FP32, b.FP32) {
		return nil
	}
	s := signOf(a.Right, b.Right, a.Count)
	return &s
}

// whole reports whether there is a bit for each item: what a recording says is not to be trusted.
func (a *Answers) whole() bool {
	return a.Count > 0 && len(a.Right) == (a.Count+7)/8 && len(a.FP32) == len(a.Right)
}

func signOf(a, b []byte, count int) Sign {
	s := Sign{Items: count}
	for i := range count {
		x, y := a[i/8]>>(i%8)&1, b[i/8]>>(i%8)&1
		if x > y {
			s.OnlyHere++
		} else if x < y {
			s.OnlyBeside++
		}
	}
	s.P = McNemar(s.OnlyHere, s.OnlyBeside)
	return s
}

// McNemar returns the two-sided p of the exact test of Q. McNemar (Psychometrika 12, 1947): were two classifiers equally good, those of
// n items on which one alone is right would be either's with a chance of a half.
func McNemar(onlyFirst, onlySecond int) float64 {
	n, k := onlyFirst+onlySecond, min(onlyFirst, onlySecond)
	if n == 0 {
		return 1
	}
	lgamma := func(x int) float64 { v, _ := math.Lgamma(float64(x) + 1); return v }
	var sum float64
	for i := range k + 1 {
		sum += math.Exp(lgamma(n) - lgamma(i) - lgamma(n-i) - float64(n)*math.Ln2)
	}
	return min(1, 2*sum)
}

// Within is where a figure lies with 95 % confidence.
type Within struct{ Low, High float64 }

// Middle returns where 95 % of values lie, of a figure on items that were drawn; nil where there are too few.
func Middle(values []float64) *Within {
	cut := len(values) / 40
	if cut == 0 {
		return nil
	}
	values = slices.Sorted(slices.Values(values))
	return &Within{values[cut], values[len(values)-1-cut]}
}

// ShareInterval returns that of a share of n items that are independent: E. B. Wilson's (Journal of the American Statistical
// Association 22, 1927). Nil where there are none.
func ShareInterval(share float64, n int) *Within {
	if n <= 0 || !(share >= 0 && share <= 1) {
		return nil
	}
	const z = 1.959964
	m := float64(n)
	middle := (share + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(share*(1-share)/m+z*z/(4*m*m))
	return &Within{max(0, middle-half), min(1, middle+half)}
}
