package quant

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Equalizer says by what the channels of a tensor between two products are scaled so that one range of 8 bits suits them all; see
// [Link]. The zero value leaves them as they are.
type Equalizer struct {
	kind  string  // "", weights, activations or auto
	alpha float64 // of activations; negative: of several, that of the least error
}

// Equalizers returns the names of the ways to equalise channels.
func Equalizers() []string { return []string{"off", "weights", "activations", "auto"} }

// ParseEqualizer reads what String writes. "activations:A" moves the share A of what channels differ by from activations into
// weights, from 0 to 1; auto is off or by activations, by trial.
func ParseEqualizer(text string) (Equalizer, error) {
	name, param, has := strings.Cut(text, ":")
	switch {
	case name == "off" && !has:
		return Equalizer{}, nil
	case (name == "weights" || name == "auto") && !has:
		return Equalizer{kind: name}, nil
	case name == "activations":
		e := Equalizer{name, -1}
		if has {
			a, err := strconv.ParseFloat(param, 64)
			if err != nil || !(a >= 0 && a <= 1) {
				return e, fmt.Errorf("equalization by activations: the share must be a number from 0 to 1, got %q", param)
			}
			e.alpha = a
		}
		return e, nil
	}
	if strings.EqualFold(name, "smoothquant") {
		return Equalizer{}, fmt.Errorf("equalization %q: SmoothQuant is activations:A, where A is its migration strength", text)
	}
	return Equalizer{}, fmt.Errorf("equalization %q: want %s", text, strings.Join(Equalizers(), ", "))
}

func (e Equalizer) String() string {
	switch {
	case e.kind == "":
		return "off"
	case e.kind == "activations" && e.alpha >= 0:
		return e.kind + ":" + strconv.FormatFloat(e.alpha, 'g', -1, 64)
	}
	return e.kind
}

// IsOff reports whether channels stay as they are.
func (e Equalizer) IsOff() bool { return e.kind == "" }

// NeedsActivations reports whether scales depend on what channels of activations reach.
func (e Equalizer) NeedsActivations() bool { return e.kind == "activations" || e.IsAuto() }

// IsAuto reports whether it is yet to be chosen.
func (e Equalizer) IsAuto() bool { return e.kind == "auto" }

// Channels that hardly do anything count as this part of the largest, or what they reach on other data would be clipped.
const leastChannel = 1.0 / 1024

// leastEqualGain is the gain in dB from which channels are scaled by activations.
const leastEqualGain = 0.5

// leastDividedGain is that of channels whose layer divides them when all else is done: kernels have no factors for each channel there,
// so that it is a pass over the tensor, half of the layer's time.
const leastDividedGain = 3

// Scales returns what the channels of the link's tensor are to be divided by, and by how many dB less the layers behind it are
// then expected to be wrong, 0 where nobody knows; no scales where there is nothing to gain, or, with the gain, less than it costs.
// seen is what the channels reach in the float network. By weights, the two layers' weights of a channel reach equally far then (M. Nagel et al., "Data-Free
// Quantization Through Weight Equalization and Bias Correction", 2019, section 4.1); by activations, they are divided by
// a^A / w^(1-A) of what activations and weights reach (G. Xiao et al., "SmoothQuant", 2023, section 4).
func (k *Link) Scales(by Equalizer, seen ChannelSpread) (scales []float64, gain float64, err error) {
	behind := k.behind()
	if by.kind == "weights" {
		before, err := k.before()
		if err != nil {
			return nil, 0, err
		}
		scales = ratio(before, behind, 0.5)
		if k.even(scales) {
			return nil, 0, nil
		}
		return scales, 0, nil
	}
	if len(seen.Low) != k.Channels {
		return nil, 0, fmt.Errorf("what the channels of %s reach is not known", k.Tensor.Name)
	}
	reach := make([]float64, k.Channels)
	for c := range reach {
		reach[c] = seen.AMax(c)
	}
	k.tie(reach)
	alphas := []float64{by.alpha}
	if by.alpha < 0 {
		alphas = []float64{0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1}
	}
	noise := k.noise(seen)
	one := slices.Repeat([]float64{1}, k.Channels)
	least := noise(one)
	asIs := least
	for _, a := range alphas {
		s := ratio(reach, behind, a)
		if e := noise(s); e < least || by.alpha >= 0 {
			scales, least = s, e
		}
	}
	if scales == nil || k.even(scales) || !(asIs > 0) || !(least > 0) {
		return nil, 0, nil
	}
	gain = 10 * math.Log10(asIs/least)
	switch {
	case by.alpha >= 0 || gain >= leastDividedGain || k.absorbs && gain >= leastEqualGain:
		return scales, gain, nil
	case gain < leastEqualGain:
		return nil, 0, nil
	}
	return nil, gain, nil
}

// Gain returns by how many decibels less the layers behind the link are expected to be wrong with its channels divided by scales,
// given what they reach in the float network; 0 where nobody knows.
func (k *Link) Gain(scales []float64, seen ChannelSpread) float64 {
	if len(seen.Low) != k.Channels || len(scales) != k.Channels {
		return 0
	}
	noise := k.noise(seen)
	asIs, then := noise(slices.Repeat([]float64{1}, k.Channels)), noise(scales)
	if !(asIs > 0) || !(then > 0) {
		return 0
	}
	return 10 * math.Log10(asIs/then)
}

// even reports whether scales are nearly one.
func (k *Link) even(scales []float64) bool {
	return !slices.ContainsFunc(scales, func(s float64) bool { return math.Abs(math.Log2(s)) > 1.0/64 })
}

// ratio returns a^alpha / b^(1-alpha) of each channel, so that the channel of the largest a keeps what it is.
func ratio(a, b []float64, alpha float64) []float64 {
	topA, topB := slices.Max(a), slices.Max(b)
	s := make([]float64, len(a))
	if !(topA > 0) || !(topB > 0) || topA > math.MaxFloat32 || topB > math.MaxFloat32 {
		for c := range s {
			s[c] = 1
		}
		return s
	}
	of := func(c int) float64 {
		return math.Pow(max(a[c]/topA, leastChannel), alpha) / math.Pow(max(b[c]/topB, leastChannel), 1-alpha)
	}
	var sum float64
	for c := range s {
		s[c] = of(c)
		sum += math.Log(s[c])
	}
	mean := math.Exp(sum / float64(len(s)))
	for c := range s {
		s[c] /= mean
	}
	return s
}

// noise returns a function that estimates the squared error of what the layers behind the link give, with channels divided by
// scales: a step of the tensor's one range is an error of any size up to half of it, as is a step of an output channel's weights.
func (k *Link) noise(seen ChannelSpread) func(scales []float64) float64 {
	type weights struct {
		at    weightChannels
		most  []float64 // of output channel o and input channel c, at o*perGroup + c's place in its group
		taps  float64
		power []float64 // of the weights of each input channel
		per   int
	}
	var users []weights
	for _, l := range k.users {
		v, _ := l.Inputs[1].Const()
		u := weights{at: channelsOf(l, v.Dims)}
		u.per = u.at.inputs / u.at.groups
		u.most, u.power = make([]float64, u.at.outputs*u.per), make([]float64, u.at.inputs)
		for i, w := range v.Floats() {
			o, c := u.at.of(i)
			p := &u.most[o*u.per+c%u.per]
			*p = max(*p, math.Abs(float64(w)))
			u.power[c] += float64(w) * float64(w)
		}
		u.taps = float64(v.Len()) / float64(max(1, len(u.most)))
		users = append(users, u)
	}
	return func(s []float64) (sum float64) {
		var lo, hi float64
		for c := range s {
			lo, hi = min(lo, seen.Low[c]/s[c]), max(hi, seen.High[c]/s[c])
		}
		step := (hi - lo) / 255
		for _, u := range users {
			for c := range s {
				sum += step * step * u.power[c] * s[c] * s[c]
			}
			for o := range u.at.outputs {
				first := o / max(1, u.at.outputs/u.at.groups) * u.per
				var top, power float64
				for c, w := range u.most[o*u.per : (o+1)*u.per] {
					x := s[first+c]
					top, power = max(top, w*x), power+seen.Square[first+c]/(x*x)
				}
				sum += top / 127 * top / 127 * power * u.taps
			}
		}
		return sum
	}
}

// behind returns the largest magnitude of the weights that read each channel.
func (k *Link) behind() []float64 {
	most := make([]float64, k.Channels)
	for _, l := range k.users {
		v, _ := l.Inputs[1].Const()
		at := channelsOf(l, v.Dims)
		for i, w := range v.Floats() {
			_, c := at.of(i)
			most[c] = max(most[c], math.Abs(float64(w)))
		}
	}
	k.tie(most)
	return most
}

// before returns the largest magnitude of the weights that give each channel.
func (k *Link) before() ([]float64, error) {
	if !k.maker.Op.IsProduct() {
		return nil, fmt.Errorf("%s has no weights to balance; equalise by activations", k.maker.Op.Name)
	}
	if !k.absorbs {
		return nil, fmt.Errorf("what follows its sums does not scale with them; equalise by activations")
	}
	v, _ := k.maker.Inputs[1].Const()
	at := channelsOf(k.maker, v.Dims)
	most := make([]float64, at.outputs)
	for i, w := range v.Floats() {
		o, _ := at.of(i)
		most[o] = max(most[o], math.Abs(float64(w)))
	}
	if k.of == nil {
		return most, nil
	}
	given := make([]float64, k.Channels)
	for c, o := range k.of {
		given[c] = most[o]
	}
	return given, nil
}
