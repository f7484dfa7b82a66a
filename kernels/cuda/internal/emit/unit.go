package emit

import "github.com/trtui/trtui/core/graph/numeric"

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
	typ  numeric.DataType
}{
	SimtF32:   {"f32_simt", numeric.F32},
	TensorF16: {"f16_mma", numeric.F16},
	TensorI8:  {"i8_mma", numeric.I8},
}

// String returns the unit as tactics name it.
func (u Unit) String() string { return units[u].name }

// Type returns the type of what is multiplied; bytes may be signed or not.
func (u Unit) Type() numeric.DataType { return units[u].typ }
