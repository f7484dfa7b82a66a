// Package memory holds the screen of the arena: what lies where at which step.
package memory
