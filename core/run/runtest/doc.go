// Package runtest is the conformance suite of backends, as testing/fstest is that of file systems: [Tactics] runs every
// tactic that matches on the layers of core/run/suite, [Networks] runs whole small networks from plan to output. Every
// backend's tests call both.
package runtest
