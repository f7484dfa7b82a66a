// Package faults hunts with a device that fails: the call that asks it for memory, a stream, a copy or a kernel fails once, from
// then on, or now and then. Random networks are calibrated, built with timing, loaded, run and profiled on it. Each stage ends in
// time, with a right result or with an error that has the device's in it and names layer and tactic where a kernel failed, and
// what was allocated, bound and opened is given back.
//
// Start with device.go, the device; stages.go is what is done on it.
package faults
