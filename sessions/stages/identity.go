package stages

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/trtui/trtui/sessions/config"
)

// Identity identifies the engine of a configuration before it is planned: by its network, to the bit, and the tactics that
// are asked for.
func (t *tuning) Identity(ctx context.Context, cfg config.Config) (string, error) {
	l, err := t.precisions.Lower(ctx, cfg)
	if err != nil {
		return "", err
	}
	in, err := t.orders.planning(cfg)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	var sizes []int
	n := *l.Network
	n.Lowered = true // FP32 need not be
	text, err := n.Encode(func(weights []byte) int {
		h.Write(weights)
		sizes = append(sizes, len(weights))
		return len(sizes)
	})
	if err != nil {
		return "", err
	}
	h.Write(text)
	fmt.Fprint(h, key(sizes, in.symbols(), in.Pin, in.Forbid, in.inTurn(), in.Stored)) // the plan of an engine file is not made anew
	return hex.EncodeToString(h.Sum(nil)), nil
}
