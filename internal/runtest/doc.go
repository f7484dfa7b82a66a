// Package runtest is the conformance suite of backends, as testing/fstest is that of file systems: [Tactics] runs every
// tactic that matches on the layers of internal/suite, [Saturation] those that quantise on numbers that their outputs do not
// hold, [Networks] runs whole small networks from plan to output. Every backend's tests call all three.
package runtest
