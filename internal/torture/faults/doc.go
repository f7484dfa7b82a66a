// Package faults hunts with a device that fails: the call that asks it for memory, a stream, a copy or a kernel fails once, from
// then on, or now and then; on a simulated GPU any call of the driver does, with a result that refuses or that loses the device.
// Random networks are calibrated, built with timing, loaded, run and profiled on it, by themselves, in sessions and by commands;
// language models continue texts. Each stage ends in
// time, with a right result or with an error that has the device's in it and names layer and tactic where a kernel failed, and
// what was allocated, bound and opened is given back.
//
// Start with device.go and gpu.go, the devices; stages.go, sessions.go and text.go are what is done on them.
package faults
