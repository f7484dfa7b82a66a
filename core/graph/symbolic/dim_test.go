package symbolic

import (
	"fmt"
	"testing"
)

// TestLongProduct: what is not multiplied out has the value of its factors' product, in either order, and reads as it is written.
func TestLongProduct(t *testing.T) {
	var x, y Dim
	env, low, high := map[string]int{}, map[string]int{}, map[string]int{}
	for i := range 90 {
		s := fmt.Sprint("count", i)
		env[s], low[s], high[s] = i%7, 0, 9
		x, y = x.Add(Symbol(s).Min(Const(5))), y.Add(Symbol(s)).AddN(1)
	}
	p := x.Mul(y)
	if got, want := p.Eval(env), x.Eval(env)*y.Eval(env); got != want {
		t.Errorf("%d, want %d", got, want)
	}
	if !p.Equal(y.Mul(x)) {
		t.Error("the order of factors tells products apart")
	}
	if n := len(p.String()); n > len(x.String())+len(y.String())+10 {
		t.Errorf("%d bytes long", n)
	}
	again, err := Parse(p.String())
	if err != nil || !again.Equal(p) {
		t.Errorf("%v: %s", err, again)
	}
	if least, most := p.Bounds(low, high); least != 0 || most != 90*5*90*10 || !p.NonNegative() {
		t.Errorf("from %d to %d", least, most)
	}
	if x.IsLarge() || y.IsLarge() {
		t.Error("90 classes are too many")
	}
}
