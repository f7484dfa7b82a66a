package sessions

import (
	"fmt"
	"strings"
)

// MemberSeparator stands between the members in a fused layer's name, the principal one first.
const MemberSeparator = " + "

// Principal returns the principal member of a layer's name and, for a fused layer, the number of the others, as in "conv1"
// and " +2".
func Principal(name string) (member, others string) {
	member, rest, fused := strings.Cut(name, MemberSeparator)
	if fused {
		others = fmt.Sprintf(" +%d", 1+strings.Count(rest, MemberSeparator))
	}
	return member, others
}
