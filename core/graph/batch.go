package graph

// Batched returns the inputs whose first axis may count the items of a batch: it is a symbol that no other axis of an input has.
func Batched(inputs []*Tensor) (batched []*Tensor) {
	inside := map[string]bool{}
	for _, t := range inputs {
		for _, d := range t.Dims[min(1, len(t.Dims)):] {
			d.Symbols(inside)
		}
	}
	for _, t := range inputs {
		if len(t.Dims) == 0 {
			continue
		}
		if name, ok := t.Dims[0].SymbolName(); ok && !inside[name] {
			batched = append(batched, t)
		}
	}
	return batched
}

// BatchAt returns the inputs along whose first axis the items of a batch lie where symbols have these values, and how many items
// there are: all that are [Batched], if they have one extent. Where their extents differ no axis counts items, and an inference
// takes a single one; so does that of a network without such inputs. Symbols without a value agree with any.
func BatchAt(inputs []*Tensor, env map[string]int) (batched []*Tensor, size int) {
	batched, size = Batched(inputs), -1
	for _, t := range batched {
		name, _ := t.Dims[0].SymbolName()
		n, ok := env[name]
		if ok && size >= 0 && n != size {
			return nil, 1
		}
		if ok {
			size = n
		}
	}
	if size < 0 {
		size = 1
	}
	return batched, size
}
