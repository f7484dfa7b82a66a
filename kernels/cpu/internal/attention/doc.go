// Package attention holds the CPU's fused attention: y = softmax(cap(scale * q kT) + mask) v by head, never with all scores in
// memory. Many queries go in tiles past blocks of keys and values that are packed once for all tiles of a unit (tiles.go);
// few, as in decoding, have the keys cut among the workers, and the parts combined (few.go).
package attention
