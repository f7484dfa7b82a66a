// Package accuracy holds the screen of how far the engine is from FP32: by layer, at the outputs, and what causes it.
package accuracy
