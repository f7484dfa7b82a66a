package ptx

import "slices"

// Overlap makes the kernel one that may be launched before what comes before it in its stream has ended. Every thread waits for
// that (griddepcontrol.wait) before it touches memory, or does more than compute indices, and only then lets the next
// kernel begin, so that no more than two run at a time. Nothing is read through the cache of what no thread writes
// (ld.global.nc): while the kernel waits, the one before may write it. A kernel that waits by itself stays as it is.
//
// It needs sm_90 and ISA version 7.8; see [Module.Retarget].
func (k *Kernel) Overlap() {
	if slices.ContainsFunc(k.Body, func(in Inst) bool { return in.Op == "griddepcontrol" }) {
		return
	}
	for i := range k.Body {
		in := &k.Body[i]
		if in.Op == "ld" && slices.Contains(in.Mods, "nc") {
			in.Mods = slices.DeleteFunc(slices.Clone(in.Mods), func(m string) bool { return m == "nc" })
		}
	}
	at := k.prologue()
	k.Body = slices.Insert(k.Body, at, Inst{Op: "griddepcontrol", Mods: []string{"wait"}}, Inst{Op: "griddepcontrol", Mods: []string{"launch_dependents"}})
	for i := range k.Labels {
		if k.Labels[i].At >= at {
			k.Labels[i].At += 2
		}
	}
}

// prologue is how many instructions every thread executes at first that touch no memory but parameters.
func (k *Kernel) prologue() int {
	end := len(k.Body)
	if len(k.Labels) > 0 {
		end = min(end, k.Labels[0].At)
	}
	for i := range end {
		if in := &k.Body[i]; !computes[in.Op] && !(in.Op == "ld" && in.Mods[0] == string(Param)) {
			return i
		}
	}
	return end
}

// computes has the instructions of which indices are made: registers in, registers out.
var computes = map[string]bool{
	"mov": true, "cvt": true, "add": true, "sub": true, "mul": true, "mad": true, "div": true, "rem": true, "min": true, "max": true,
	"and": true, "or": true, "xor": true, "not": true, "shl": true, "shr": true, "bfe": true, "setp": true, "selp": true,
}
