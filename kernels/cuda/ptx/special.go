package ptx

import "strings"

// specials are the special registers (PTX ISA 10) and their widths; those of three dimensions without them.
var specials = [...]struct {
	name string
	dims bool
	bits int
}{
	{"%tid", true, 32}, {"%ntid", true, 32}, {"%ctaid", true, 32}, {"%nctaid", true, 32},
	{"%laneid", false, 32}, {"%warpid", false, 32}, {"%nwarpid", false, 32}, {"%smid", false, 32}, {"%nsmid", false, 32}, {"%gridid", false, 64},
	{"%lanemask_eq", false, 32}, {"%lanemask_le", false, 32}, {"%lanemask_lt", false, 32}, {"%lanemask_ge", false, 32}, {"%lanemask_gt", false, 32},
	{"%clock", false, 32}, {"%clock64", false, 64}, {"%globaltimer", false, 64}, {"%dynamic_smem_size", false, 32}, {"%total_smem_size", false, 32},
	{"%clusterid", true, 32}, {"%nclusterid", true, 32}, {"%cluster_ctaid", true, 32}, {"%cluster_nctaid", true, 32}, {"%cluster_ctarank", false, 32},
}

// specialBits is the width of a special register, with its dimension in the name; 0 if it is none.
func specialBits(name string) int {
	root, dim, dotted := strings.Cut(name, ".")
	for _, s := range specials {
		if s.name == root && s.dims == dotted && (!dotted || dim == "x" || dim == "y" || dim == "z") {
			return s.bits
		}
	}
	return 0
}

// specialFits reports whether a special register may be moved as type t.
func specialFits(name string, t Type) bool {
	return specialBits(name) == t.Bits() && !t.isFloat() && t != Pred
}
