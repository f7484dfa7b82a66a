package cpu

import "github.com/trtui/trtui/kernels"

// tactics is the table of all tactics, for each op the best guess first. The builder, the tests and the benchmarks all
// range over it; to add a kernel is to add a line.
var tactics = []kernels.Tactic{
	reference,
}
