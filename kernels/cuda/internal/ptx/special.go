package ptx

import "strings"

// SpecialRegister is a register that the GPU sets (PTX ISA 10).
type SpecialRegister struct {
	Type  Type
	Needs Need
}

// special finds a special register by its name, with its percent sign.
func special(name string) (SpecialRegister, bool) {
	plain, dotted := strings.CutSuffix(name, ".x")
	for _, dim := range []string{".y", ".z", ".w"} {
		if !dotted {
			plain, dotted = strings.CutSuffix(name, dim)
		}
	}
	var r SpecialRegister
	switch plain {
	case "%tid", "%ntid", "%ctaid", "%nctaid":
		return SpecialRegister{Type: U32}, dotted
	case "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid":
		return SpecialRegister{U32, Need{78, Target{SM: 90}}}, dotted
	case "%laneid", "%warpid", "%nwarpid", "%smid", "%nsmid", "%clock", "%clock_hi",
		"%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge", "%lanemask_gt",
		"%globaltimer_lo", "%globaltimer_hi", "%dynamic_smem_size", "%total_smem_size":
		r.Type = U32
	case "%cluster_ctarank", "%cluster_nctarank":
		r = SpecialRegister{U32, Need{78, Target{SM: 90}}}
	case "%is_explicit_cluster":
		r = SpecialRegister{Pred, Need{78, Target{SM: 90}}}
	case "%clock64", "%globaltimer", "%gridid":
		r.Type = U64
	default:
		return r, false
	}
	return r, !dotted
}
