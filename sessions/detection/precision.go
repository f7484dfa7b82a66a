package detection

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// mostFound is how many boxes of a class count in an image, those of the highest scores.
const mostFound = 100

// thresholds are the overlaps from which on a box is one that is there: 0.5, 0.55, ... 0.95.
var thresholds = func() (t [10]float64) {
	first, last := 0.5, 0.95
	for i := range t {
		t[i] = first + float64(i)*((last-first)/float64(len(t)-1))
	}
	return t
}()

// recalls is the number of shares of the boxes that are there, from 0 to 1, at which precision is taken.
const recalls = 101

// Precision takes images one after the other and gives the mean average precision over their classes, as COCO defines it: precision at
// 101 recalls of the boxes in the order of their scores, over overlaps of 0.5 to 0.95, of the 100 best of a class in an image.
type Precision struct {
	classes map[int]*class
}

// class is what is known of one.
type class struct {
	there int // boxes that count
	found []judged
}

// judged is a box that was found: by threshold, whether it is right, or counts for nothing.
type judged struct {
	score          float64
	right, nothing [len(thresholds)]bool
}

// Add compares what was found in an image with what is there.
func (p *Precision) Add(there []Box, found []Found) {
	if p.classes == nil {
		p.classes = map[int]*class{}
	}
	for id, in := range byClass(there, found) {
		c := p.classes[id]
		if c == nil {
			c = &class{}
			p.classes[id] = c
		}
		for i := range in.there {
			if !in.there[i].Crowd {
				c.there++
			}
		}
		c.found = append(c.found, judge(in.there, in.found)...)
	}
}

type image struct {
	there []Box
	found []Found
}

// byClass divides an image.
func byClass(there []Box, found []Found) map[int]*image {
	images := map[int]*image{}
	of := func(id int) *image {
		if images[id] == nil {
			images[id] = &image{}
		}
		return images[id]
	}
	for _, b := range there {
		i := of(b.Class)
		i.there = append(i.there, b)
	}
	for _, f := range found {
		i := of(f.Class)
		i.found = append(i.found, f)
	}
	return images
}

// judge gives each box, those of higher scores first, the one that it overlaps most of those that nobody has; a crowd is for many, and
// only for boxes that have nothing else.
func judge(there []Box, found []Found) []judged {
	slices.SortStableFunc(there, func(a, b Box) int {
		return cmp.Compare(boolInt(a.Crowd), boolInt(b.Crowd))
	})
	slices.SortStableFunc(found, func(a, b Found) int { return cmp.Compare(b.Score, a.Score) })
	found = found[:min(len(found), mostFound)]
	list := make([]judged, len(found))
	overlaps := make([]float64, len(there))
	taken := make([][len(thresholds)]bool, len(there))
	for i := range found {
		list[i].score = found[i].Score
		for k := range there {
			overlaps[k] = found[i].overlap(&there[k])
		}
		for t, least := range thresholds {
			best := -1
			most := min(least, 1-1e-10)
			for k := range there {
				if best >= 0 && !there[best].Crowd && there[k].Crowd {
					break
				}
				if taken[k][t] && !there[k].Crowd || overlaps[k] < most {
					continue
				}
				best, most = k, overlaps[k]
			}
			if best >= 0 {
				taken[best][t] = true
				list[i].right[t], list[i].nothing[t] = !there[best].Crowd, there[best].Crowd
			}
		}
	}
	return list
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Result is what came of all images; shares from 0 to 1.
type Result struct {
	Mean    float64 // over overlaps from 0.5 to 0.95
	At50    float64 // at an overlap of 0.5
	At75    float64
	Classes int // that are there
	Boxes   int // that are there, and no crowds
}

// Result returns the precision over what was added; ok is false where no boxes were there.
func (p *Precision) Result() (r Result, ok bool) {
	var sums [len(thresholds)]float64
	for _, id := range slices.Sorted(maps.Keys(p.classes)) { // sums do not depend on the order of a map
		c := p.classes[id]
		if c.there == 0 {
			continue
		}
		r.Classes++
		r.Boxes += c.there
		slices.SortStableFunc(c.found, func(a, b judged) int { return cmp.Compare(b.score, a.score) })
		for t := range thresholds {
			sums[t] += c.average(t)
		}
	}
	if r.Classes == 0 {
		return r, false
	}
	for t := range sums {
		sums[t] /= float64(r.Classes)
		r.Mean += sums[t]
	}
	r.Mean /= float64(len(sums))
	r.At50, r.At75 = sums[0], sums[5]
	return r, true
}

// average returns the average precision at a threshold: at each recall that of the best precision from there on.
func (c *class) average(t int) float64 {
	recall := make([]float64, 0, len(c.found))
	precision := make([]float64, 0, len(c.found))
	right, wrong := 0, 0
	for i := range c.found {
		switch f := &c.found[i]; {
		case f.right[t]:
			right++
		case !f.nothing[t]:
			wrong++
		}
		recall = append(recall, float64(right)/float64(c.there))
		precision = append(precision, float64(right)/max(1, float64(right+wrong)))
	}
	for i := len(precision) - 1; i > 0; i-- {
		precision[i-1] = max(precision[i-1], precision[i])
	}
	sum := 0.0
	for k := range recalls {
		at, _ := slices.BinarySearch(recall, math.Min(float64(k)*0.01, 1))
		if at < len(precision) {
			sum += precision[at]
		}
	}
	return sum / recalls
}
