package ptxsim

// opcodes returns the decoder of the instructions whose name begins with root; nil if there is none.
func opcodes(root string) func(*decoder) {
	switch root {
	case "add", "sub", "mul", "mad", "fma", "div", "min", "max", "abs", "neg":
		return (*decoder).arithmetic
	case "rem", "sad", "mul24", "mad24", "addc", "subc", "madc":
		return (*decoder).integerOnly
	case "popc", "clz", "bfind", "brev", "bfe", "bfi", "dp4a", "dp2a":
		return (*decoder).bitwise
	case "rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh", "copysign":
		return (*decoder).function
	case "testp":
		return (*decoder).testp
	case "and", "or", "xor", "not", "cnot", "shl", "shr", "lop3", "shf", "prmt":
		return (*decoder).logic
	case "setp", "set":
		return (*decoder).compare
	case "selp", "slct":
		return (*decoder).choose
	case "mov":
		return (*decoder).move
	case "cvt":
		return (*decoder).convert
	case "cvta", "isspacep":
		return (*decoder).spaces
	case "ld", "st", "ldu":
		return (*decoder).memory
	case "atom", "red":
		return (*decoder).atomic
	case "prefetch", "prefetchu", "membar", "fence", "nanosleep", "discard", "applypriority":
		return (*decoder).nothing
	case "griddepcontrol":
		return (*decoder).gridDependency
	case "cp":
		return (*decoder).copyAsync
	case "shfl", "vote", "match", "redux", "activemask", "elect":
		return (*decoder).exchange
	case "ldmatrix", "stmatrix":
		return (*decoder).moveMatrix
	case "mma":
		return (*decoder).matrix
	case "bra", "ret", "exit", "trap", "bar", "barrier":
		return (*decoder).control
	}
	return nil
}
