package cuda

import "github.com/trtui/trtui/core/graph"

// unit is what multiplies.
type unit uint8

// The units: 32-bit multiply-adds, and tensor cores on halves and on bytes.
const (
	simtF32 unit = iota
	tensorF16
	tensorI8
)

var units = [...]struct {
	name string
	typ  graph.DataType
	rate float64
}{
	simtF32:   {"f32_simt", graph.F32, 128},
	tensorF16: {"f16_mma", graph.F16, 1024},
	tensorI8:  {"i8_mma", graph.I8, 2048},
}

func (u unit) String() string { return units[u].name }

// typ returns the type of what is multiplied; bytes may be signed or not.
func (u unit) typ() graph.DataType { return units[u].typ }

// rate returns the multiply-adds of one SM in a cycle.
func (u unit) rate() float64 { return units[u].rate }
