package ptx

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// regGroup is registers of one type whose names are a prefix and a number.
type regGroup struct {
	prefix string
	typ    Type
	count  int
	most   int // the highest number
}

// printRegisters declares the registers: those that are numbered by ranges, ".reg .b32 %r<12>;", in the order of their
// prefixes, and the others one by one.
func (k *Kernel) printRegisters(b *strings.Builder) {
	groups := k.regGroups()
	for _, g := range groups {
		fmt.Fprintf(b, "\t.reg .%s %s<%d>;\n", g.typ, g.prefix, g.most+1)
	}
	for _, r := range k.Regs {
		prefix, _, _ := numbered(r.Name)
		if !slices.ContainsFunc(groups, func(g regGroup) bool { return g.prefix == prefix }) {
			fmt.Fprintf(b, "\t.reg .%s %s;\n", r.Type, r.Name)
		}
	}
}

// regGroups finds the prefixes that a range serves: all registers of a prefix have its type, and few numbers are unused.
func (k *Kernel) regGroups() []regGroup {
	byPrefix := map[string]*regGroup{}
	for _, r := range k.Regs {
		prefix, n, ok := numbered(r.Name)
		if !ok {
			continue
		}
		g := byPrefix[prefix]
		if g == nil {
			g = &regGroup{prefix: prefix, typ: r.Type, most: -1}
			byPrefix[prefix] = g
		}
		if g.count++; g.typ != r.Type {
			g.typ = ""
		}
		g.most = max(g.most, n)
	}
	var list []regGroup
	for _, g := range byPrefix {
		if g.typ != "" && g.count > 1 && g.most < 4*g.count+64 {
			list = append(list, *g)
		}
	}
	slices.SortFunc(list, func(a, b regGroup) int { return strings.Compare(a.prefix, b.prefix) })
	return list
}

// numbered splits the name of a register such as %r12.
func numbered(name string) (prefix string, n int, ok bool) {
	prefix = strings.TrimRight(name, "0123456789")
	digits := name[len(prefix):]
	if digits == "" || len(digits) > 6 || len(digits) > 1 && digits[0] == '0' || len(prefix) < 2 || strings.HasSuffix(prefix, "_") {
		return "", 0, false
	}
	n, err := strconv.Atoi(digits)
	return prefix, n, err == nil
}
