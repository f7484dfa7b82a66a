package diff

import (
	"math"
	"slices"
	"time"
)

// Discoveries is the rate of false discoveries to which significance is held.
const Discoveries = 0.05

// leastRounds is the least number of independent values of each side for a test; with fewer no difference, however large,
// could be significant among many.
const leastRounds = 5

// MannWhitney returns the chance that samples of one distribution differ as much as these do in how often one of a is larger than
// one of b: the two-sided U test of Mann and Whitney (Annals of Mathematical Statistics 18, 1947). It is exact where no two
// values are equal and there are not many of them, and else by the normal approximation, corrected for ties and continuity. ok
// is false where there are too few values.
func MannWhitney(a, b []time.Duration) (p float64, ok bool) { return uTables{}.mannWhitney(a, b) }

// uTables are the chances of each U or a smaller one, by how many values there are: layers have as many rounds as each other.
type uTables map[[2]int][]float64

func (t uTables) mannWhitney(a, b []time.Duration) (p float64, ok bool) {
	n, m := len(a), len(b)
	if min(n, m) < leastRounds {
		return 0, false
	}
	const mostExact = 30
	u, ties := rankSum(a, b)
	if ties == 0 && n*m <= mostExact*mostExact {
		below := t[[2]int{n, m}]
		if below == nil {
			below = exactU(n, m)
			t[[2]int{n, m}] = below
		}
		return min(2*below[int(min(u, float64(n*m)-u))], 1), true
	}
	total := float64(n + m)
	variance := float64(n*m) / 12 * (total + 1 - ties/(total*(total-1)))
	if variance <= 0 { // all are equal
		return 1, true
	}
	z := max(math.Abs(u-float64(n*m)/2)-0.5, 0) / math.Sqrt(variance)
	return math.Erfc(z / math.Sqrt2), true
}

// rankSum returns U, how often a value of a is larger than one of b, equal ones counting half, and the sum of t^3-t over the sets
// of t equal values.
func rankSum(a, b []time.Duration) (u, ties float64) {
	type value struct {
		d   time.Duration
		ofA bool
	}
	all := make([]value, 0, len(a)+len(b))
	for _, d := range a {
		all = append(all, value{d, true})
	}
	for _, d := range b {
		all = append(all, value{d, false})
	}
	slices.SortFunc(all, func(x, y value) int { return int(min(max(x.d-y.d, -1), 1)) })
	ranks := 0.0
	for i := 0; i < len(all); {
		j := i
		for j < len(all) && all[j].d == all[i].d {
			j++
		}
		t := float64(j - i)
		ties += t*t*t - t
		for _, v := range all[i:j] {
			if v.ofA {
				ranks += float64(i+j+1) / 2 // the mean of ranks i+1 to j
			}
		}
		i = j
	}
	n := float64(len(a))
	return ranks - n*(n+1)/2, ties
}

// exactU returns for each u the chance that U is at most that, where all orders of n and m values are as likely. ways[j][u] counts the orders of i values and j others for which U is u: behind the largest
// value is either one of the i, which is larger than all j, or one of the j, which is larger than none.
func exactU(n, m int) []float64 {
	size := n*m + 1
	ways := make([][]float64, m+1)
	for j := range ways {
		ways[j] = make([]float64, size)
		ways[j][0] = 1 // no value of the i: one order
	}
	for i := range n {
		most := (i+1)*m + 1 // what U can be so far
		next := make([][]float64, m+1)
		for j := range next {
			next[j] = make([]float64, size)
			for k := range most {
				if k >= j {
					next[j][k] = ways[j][k-j]
				}
				if j > 0 {
					next[j][k] += next[j-1][k]
				}
			}
		}
		ways = next
	}
	below, all := make([]float64, size), 0.0
	for k, w := range ways[m] {
		all += w
		below[k] = all
	}
	for k := range below {
		below[k] /= all
	}
	return below
}

// falseDiscoveries returns for each p the least rate of false discoveries at which it is one: the procedure of Benjamini and
// Hochberg (Journal of the Royal Statistical Society B 57, 1995).
func falseDiscoveries(p []float64) []float64 {
	at := make([]int, len(p))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(i, j int) int {
		switch {
		case p[i] < p[j]:
			return -1
		case p[i] > p[j]:
			return 1
		}
		return 0
	})
	q, least := make([]float64, len(p)), 1.0
	for rank := len(at); rank > 0; rank-- {
		i := at[rank-1]
		least = min(least, p[i]*float64(len(p))/float64(rank))
		q[i] = least
	}
	return q
}
