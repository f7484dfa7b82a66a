//go:build wasip1

// Standardize gives each row of x the mean 0 and the deviation 1: com.example:Standardize(x [...,n], scale [n]) -> y, mean [...,1].
// scale may be left out.
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -ldflags '-s -w' -o standardize.wasm main.go
package main

import (
	"math"
	"unsafe"
)

const manifest = `{"abi": 1, "name": "standardize", "version": "1.0", "ops": [{
	"domain": "com.example", "name": "Standardize", "doc": "gives rows the mean 0 and the deviation 1",
	"attributes": [{"name": "epsilon", "type": "float", "default": 1e-5}],
	"inputs": [{"name": "x", "types": ["f32"]}, {"name": "scale", "types": ["f32"], "optional": true}],
	"outputs": [{"name": "y"}, {"name": "mean"}]}]}`

// answer and block are what the host reads and writes: they stay where they are while they are referred to.
var (
	answer []int64
	block  []int64
)

func main() {}

// say makes an answer of a length and text.
func say(text string) *int64 {
	answer = make([]int64, 1+(len(text)+7)/8)
	answer[0] = int64(len(text))
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&answer[0])), 8*len(answer))[8:], text)
	return &answer[0]
}

//go:wasmexport trtui_manifest
func trtuiManifest() unsafe.Pointer { return unsafe.Pointer(say(manifest)) }

//go:wasmexport trtui_alloc
func trtuiAlloc(size uint32) unsafe.Pointer {
	if n := int(size)/8 + 1; n > len(block) {
		block = make([]int64, n)
	}
	return unsafe.Pointer(&block[0])
}

// tensor is one of a request.
type tensor struct {
	kind int64
	dims []int64
	data []float32
}

// request reads what this op has: epsilon, and tensors.
func request(p unsafe.Pointer) (epsilon float64, list []tensor) {
	at := (*[1 << 20]int64)(p)
	inputs, outputs := int(at[2]), int(at[3])
	epsilon = math.Float64frombits(uint64(at[6])) // behind the kind and the count of the only attribute
	next := 7
	for k := 0; k < inputs+outputs; k++ {
		if k >= inputs && epsilonOnly {
			break
		}
		rank := int(at[next+1])
		t := tensor{kind: at[next], dims: at[next+2 : next+2+rank]}
		next += 2 + rank
		if address, bytes := at[next], at[next+1]; address != 0 && bytes > 0 {
			t.data = unsafe.Slice((*float32)(unsafe.Pointer(uintptr(address))), bytes/4)
		}
		next += 2
		list = append(list, t)
	}
	return epsilon, list
}

// epsilonOnly is whether a request ends behind its inputs, as those for shapes do.
var epsilonOnly bool

//go:wasmexport trtui_infer
func trtuiInfer(p unsafe.Pointer) unsafe.Pointer {
	epsilonOnly = true
	_, in := request(p)
	x := in[0]
	if len(x.dims) == 0 {
		return unsafe.Pointer(say("x is a scalar; it has rows along its last axis"))
	}
	outputs := int((*[4]int64)(p)[3])
	answer = []int64{0, x.kind, int64(len(x.dims))}
	answer = append(answer, x.dims...)
	if outputs > 1 {
		answer = append(answer, x.kind, int64(len(x.dims)))
		answer = append(append(answer, x.dims[:len(x.dims)-1]...), 1)
	}
	return unsafe.Pointer(&answer[0])
}

//go:wasmexport trtui_eval
func trtuiEval(p unsafe.Pointer) unsafe.Pointer {
	epsilonOnly = false
	inputs := int((*[4]int64)(p)[2])
	epsilon, list := request(p)
	x, results := list[0], list[inputs:]
	n := int(x.dims[len(x.dims)-1])
	for row := 0; row*n < len(x.data); row++ {
		from, to := x.data[row*n:row*n+n], results[0].data[row*n:row*n+n]
		mean, squares := 0.0, 0.0
		for _, v := range from {
			mean += float64(v) / float64(n)
		}
		for _, v := range from {
			squares += (float64(v) - mean) * (float64(v) - mean)
		}
		deviation := math.Sqrt(squares/float64(n) + epsilon)
		for i, v := range from {
			f := 1.0
			if inputs > 1 && list[1].kind != 0 {
				f = float64(list[1].data[i])
			}
			to[i] = float32((float64(v) - mean) / deviation * f)
		}
		if len(results) > 1 {
			results[1].data[row] = float32(mean)
		}
	}
	return nil
}
