package emit

import "github.com/trtui/trtui/kernels/cuda/internal/ptx"

// maxBlocksYZ is how many blocks the grid's second and third dimension hold; the first holds 2^31-1.
const maxBlocksYZ = 65535

// BlockIndices returns the block's place in a grid, and the grid to launch: the very one, or where that has too many blocks
// in its second or third dimension, one with all of them in its first.
func BlockIndices(k *ptx.K, grid [3]int) (x, y, z ptx.Uint, launched [3]int) {
	if grid[1] <= maxBlocksYZ && grid[2] <= maxBlocksYZ {
		index := func(n int, read func() ptx.Uint) ptx.Uint {
			if n == 1 {
				return ptx.U(0)
			}
			return read()
		}
		return index(grid[0], k.BlockX), index(grid[1], k.BlockY), index(grid[2], k.BlockZ), grid
	}
	rest, x := k.DivRem(k.BlockX(), grid[0])
	z, y = k.DivRem(rest, grid[1])
	return x, y, z, [3]int{grid[0] * grid[1] * grid[2], 1, 1}
}

// RoundUp returns the least multiple of a number that is not below n.
func RoundUp(n, to int) int { return (n + to - 1) / to * to }

// CeilDiv returns how many parts of a size hold n.
func CeilDiv(n, by int) int { return (n + by - 1) / by }
