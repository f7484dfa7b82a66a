// Package driver speaks to an NVIDIA GPU through the driver API, which every machine with an NVIDIA driver has: no toolkit,
// no C compiler, no cgo. libcuda is opened by name at run time; a binary that holds this package starts and works the same
// where there is none.
//
// Start at [Context], the work one process does on one device, as an interface: [Open] gives the real one, package
// simulator one over the PTX simulator, and package drivertest one that records calls and injects failures. [Probe] says which
// devices there are, or why none. Failures of the driver are of type [*Error].
//
// Names follow the driver's own, so that its manual is the manual: MemcpyHtoDAsync is cuMemcpyHtoDAsync. How a call
// reaches the library is in library.go alone; the table of all functions used, with their arguments, in table.go.
//
// The build tag nocuda, and every system that is not 64-bit Linux on amd64 or arm64, leaves the library out: Open then
// returns one clear error.
package driver
