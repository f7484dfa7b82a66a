package emit

import "github.com/trtui/trtui/core/graph"

// Unit is what multiplies.
type Unit uint8

// The units: 32-bit multiply-adds, and tensor cores on halves and on bytes.
const (
	SimtF32 Unit = iota
	TensorF16
	TensorI8

	UnitCount // how many there are
)

var units = [...]struct {
	name string
	typ  graph.DataType
}{
	SimtF32:   {"f32_simt", graph.F32},
	TensorF16: {"f16_mma", graph.F16},
	TensorI8:  {"i8_mma", graph.I8},
}

// String returns the unit as tactics name it.
func (u Unit) String() string { return units[u].name }

// Type returns the type of what is multiplied; bytes may be signed or not.
func (u Unit) Type() graph.DataType { return units[u].typ }
