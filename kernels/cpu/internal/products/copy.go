package products

import "github.com/trtui/trtui/kernels/cpu/internal/work"

// The rows of a tile are read side by side, a cache line of each. Where they lie a multiple of 2 KiB apart, all of them are in
// one or two sets of the L1 cache, which do not hold so many: such a matrix is copied first, its rows an odd number of lines
// apart.
const (
	aliased     = 2048 // bytes
	fewRows     = 6    // rows that one set holds
	copyColumns = 128  // of B, from which on a copy pays
	copyRows    = 8    // rows of a unit of the copy
)

// RoomF32 returns the floats that a product of m rows, stride floats apart, by a matrix [k][n] copies the rows to: 0 where it
// reads them as they lie.
func RoomF32(m, n, k, stride int) int {
	if m <= fewRows || 4*stride%aliased != 0 || n < copyColumns {
		return 0
	}
	return m * spread(k)
}

// spread returns the floats from one copied row of k to the next.
func spread(k int) int { return (work.CeilDiv(k, work.Lanes) | 1) * work.Lanes }

// gemmCopy is the copy of the rows of a matrix of depth k, zeros behind each.
type gemmCopy struct {
	to, from             []float32
	toStride, fromStride int
	rows, k              int
}

var copyJob = work.NewJob((*gemmCopy).do)

// run copies the rows.
func (c *gemmCopy) run(parallel work.Parallel, workers int) {
	copyJob.Run(parallel, max(1, workers), work.CeilDiv(c.rows, copyRows), *c)
}

func (c *gemmCopy) do(u, _ int) {
	for i := u * copyRows; i < min(c.rows, (u+1)*copyRows); i++ {
		row := c.to[i*c.toStride:][:c.toStride]
		clear(row[copy(row, c.from[i*c.fromStride:][:c.k]):])
	}
}
