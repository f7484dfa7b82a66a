package compare

import (
	"math"
	"slices"
)

// RatioInterval returns the ratio of two engines that were measured in turns, of which ratios has one for each round, and an interval
// around it that leaves the true one out with a chance: of two, each with half of the chance, the narrower one. The sign test's serves
// where most rounds agree and some are far off; where all vary alike that of the signed-rank test takes half the rounds. With few
// ratios there is none.
func RatioInterval(ratios []float64, chance float64) (ratio, low, high float64) {
	ratio, low, high = MedianIntervalAt(ratios, chance/2)
	if r, l, h := rankInterval(ratios, chance/2); l > 0 && (low == 0 || h/l < high/low) {
		return r, l, h
	}
	return ratio, low, high
}

// rankInterval returns what Wilcoxon's signed-rank test makes of ratios: of the means of all pairs of logarithms the middle one, and the
// k-th from either end (Hodges and Lehmann). It supposes that what disturbs a round is as likely to hit the one as the other, which
// turns make so.
func rankInterval(ratios []float64, chance float64) (ratio, low, high float64) {
	n := len(ratios)
	if n == 0 {
		return math.NaN(), 0, 0
	}
	logs := make([]float64, n)
	for i, r := range ratios {
		logs[i] = math.Log(r)
	}
	slices.Sort(logs)
	all := n * (n + 1) / 2
	ratio = math.Exp((pairMean(logs, (all+1)/2) + pairMean(logs, all/2+1)) / 2)
	k := rankTail(n, chance/2)
	if k == 0 {
		return ratio, 0, 0
	}
	return ratio, math.Exp(pairMean(logs, k)), math.Exp(pairMean(logs, all+1-k))
}

// pairMean returns the k-th smallest, from 1 on, of the means of all pairs of sorted values, each with itself among them.
func pairMean(sorted []float64, k int) float64 {
	low, high := sorted[0], sorted[len(sorted)-1]
	for low < high {
		half := low + (high-low)/2
		if half <= low || half >= high { // no number lies between
			break
		}
		if pairsUpTo(sorted, half) >= k {
			high = half
		} else {
			low = half
		}
	}
	if pairsUpTo(sorted, low) >= k {
		return low
	}
	return high
}

// pairsUpTo counts the pairs whose mean is at most so much.
func pairsUpTo(sorted []float64, most float64) (count int) {
	j := len(sorted) - 1
	for i, v := range sorted {
		for j >= i && v+sorted[j] > 2*most {
			j--
		}
		if j < i {
			break
		}
		count += j - i + 1
	}
	return count
}

// rankTail returns how many sums of ranks, from the least on, have together at most a chance under the signed-rank test of n values:
// exactly for a few, and as the normal distribution has it, which they are near to, for many.
func rankTail(n int, chance float64) int {
	const few = 60
	if n > few {
		mean := float64(n) * float64(n+1) / 4
		deviation := math.Sqrt(mean * float64(2*n+1) / 6)
		return max(int(mean-0.5-normalAt(chance)*deviation)+1, 0)
	}
	ways := make([]float64, n*(n+1)/2+1) // in which ranks add up to a sum
	ways[0] = 1
	for rank, most := 1, 0; rank <= n; rank++ {
		most += rank
		for sum := most; sum >= rank; sum-- {
			ways[sum] += ways[sum-rank]
		}
	}
	k, tail := 0, 0.0
	for {
		if tail += math.Ldexp(ways[k], -n); tail > chance {
			return k
		}
		k++
	}
}

// normalAt returns how many deviations above its mean a normal value is with a chance.
func normalAt(chance float64) float64 { return math.Sqrt2 * math.Erfcinv(2*chance) }
