package run

import (
	"errors"
	"fmt"
)

// unarrangedError is why a layer whose op only arranges memory launches something: a code, as passes have for what they did not do, and
// what stands in the way.
type unarrangedError struct{ reason, detail string }

func (u *unarrangedError) Error() string { return u.detail }

// The reasons; those that a pass may have, too, are called as there.
const (
	severalOutputs  = "several outputs"
	givenInput      = "constant"
	networkTensor   = "network output" // or input: it has memory of its own
	placeTaken      = "place taken"    // the tensor lies somewhere else already
	otherType       = "dtype"
	unalignedBlocks = "blocks" // a part would begin within a block of channels
	unalignedPart   = "alignment"
	wrongAxis       = "axis"                // parts along it are not whole pieces of memory
	noStrided       = "no tactic on target" // what computes or reads it takes no part of a tensor
	emptyPart       = "empty"
	reformatsCost   = "slower"
	otherShapes     = "shape" // at those that the engine serves besides
)

func unarranged(reason, format string, args ...any) error {
	return &unarrangedError{reason, fmt.Sprintf(format, args...)}
}

// reasonCode returns the code of why a layer launches something.
func reasonCode(why error) string {
	var u *unarrangedError
	if errors.As(why, &u) {
		return u.reason
	}
	return ""
}
