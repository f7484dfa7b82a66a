// Package graph holds the screen of the source network beside the engine's: layers, passes, rules and what each is worth.
package graph
