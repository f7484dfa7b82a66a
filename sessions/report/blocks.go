package report

import (
	"fmt"
	"strings"
)

// Block is a run of layers that stands several times in a row: the same operations on tensors of the same shapes.
type Block struct {
	First int // layer
	Size  int // layers of one
	Count int
}

// The least that is a block, and the most layers that are looked for as one.
const (
	blockSize  = 3
	blockCount = 3
	widestSize = 512
)

// Blocks finds what repeats in a network's layers, in their order: of those that overlap the one that leaves the fewest.
func Blocks(layers []Layer) []Block {
	kinds, numbers := make([]int, len(layers)), map[string]int{}
	for i := range layers {
		kind := layers[i].kind()
		if layers[i].Depth > 0 || i+1 < len(layers) && layers[i+1].Depth > layers[i].Depth { // bodies fold by themselves
			kind = fmt.Sprint(i)
		}
		if _, ok := numbers[kind]; !ok {
			numbers[kind] = len(numbers)
		}
		kinds[i] = numbers[kind]
	}
	var list []Block
	var find func(from, to int)
	find = func(from, to int) {
		b := longestRepeat(kinds, from, to)
		if b.Count == 0 {
			return
		}
		extent := b.Size * b.Count
		b.First += bestStart(layers[b.First:to], kinds[b.First:to], b)
		find(from, b.First)
		list = append(list, b)
		find(b.First+extent, to)
	}
	find(0, len(layers))
	return list
}

// kind is what layers have in common that do the same, on other values: an attention that turns queries and keys reads what others
// do not.
func (l *Layer) kind() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n%s\n%s\n%d %d", l.Op, l.Precision, l.Attrs, l.Epilogue, len(l.Inputs), l.Weights)
	for _, t := range l.Outputs {
		fmt.Fprintf(&b, "\n%s%s", t.Type, t.Dims)
	}
	return b.String()
}

// longestRepeat returns the block within a range of layers of which the most layers are repetitions; the shortest of those.
func longestRepeat(kinds []int, from, to int) (best Block) {
	for size := blockSize; size <= widestSize && size*blockCount <= to-from; size++ {
		run := 0 // layers that are followed by their like at the distance
		for i := from; i <= to-size; i++ {
			if i < to-size && kinds[i] == kinds[i+size] {
				run++
				continue
			}
			count := run/size + 1
			first := i - run
			if count >= blockCount && (count-1)*size > (best.Count-1)*best.Size && !uniform(kinds[first:first+size]) {
				best = Block{First: first, Size: size, Count: count}
			}
			run = 0
		}
	}
	return best
}

// uniform reports whether all are the same.
func uniform(kinds []int) bool {
	for _, k := range kinds {
		if k != kinds[0] {
			return false
		}
	}
	return true
}

// bestStart returns how many layers later the block should begin, so that the names of its layers have the most in common:
// what repeats may begin anywhere within what a person calls a block.
func bestStart(layers []Layer, kinds []int, b Block) int {
	best, most := 0, -1
	for start := 0; start < b.Size && start+b.Size*b.Count <= len(layers); start++ {
		if !repeats(kinds[start:], b) {
			break
		}
		common := 0
		for i := range b.Count {
			at := start + i*b.Size
			common += len(CommonPath(layers[at : at+b.Size]))
		}
		if common > most {
			best, most = start, common
		}
	}
	return best
}

func repeats(kinds []int, b Block) bool {
	for i := range b.Size * (b.Count - 1) {
		if kinds[i] != kinds[i+b.Size] {
			return false
		}
	}
	return true
}

// CommonPath returns the part of the layers' names that all begin with, up to a separator; fused layers by their principal
// members.
func CommonPath(layers []Layer) string {
	common := ""
	for i := range layers {
		name, _ := Principal(layers[i].Name)
		if i == 0 {
			common = name
			continue
		}
		n := 0
		for n < len(common) && n < len(name) && common[n] == name[n] {
			n++
		}
		common = common[:n]
	}
	if i := strings.LastIndexAny(common, "/."); i >= 0 {
		return common[:i]
	}
	return ""
}
