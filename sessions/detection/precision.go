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
	images  int
	sorted  bool // what was found in each class, by score
}

// class is what is known of one.
type class struct {
	there map[int]int // boxes that count, by image
	found []judged
}

// count returns how many boxes are there, each image counting so many times.
func (c *class) count(times []int) (n int) {
	for image, boxes := range c.there {
		n += boxes * times[image]
	}
	return n
}

// judged is a box that was found: by threshold, whether it is right, or counts for nothing.
type judged struct {
	image          int
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
			c = &class{there: map[int]int{}}
			p.classes[id] = c
		}
		for i := range in.there {
			if !in.there[i].Crowd {
				c.there[p.images]++
			}
		}
		for _, j := range judge(in.there, in.found) {
			j.image = p.images
			c.found = append(c.found, j)
		}
	}
	p.images++
	p.sorted = false
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

// Images is how many were added.
func (p *Precision) Images() int { return p.images }

// Result returns the precision over what was added; ok is false where no boxes were there.
func (p *Precision) Result() (r Result, ok bool) {
	return p.Of(slices.Repeat([]int{1}, p.images))
}

// Of returns the precision over images that count so many times each, in the order in which they were added.
func (p *Precision) Of(times []int) (r Result, ok bool) {
	for _, c := range p.classes {
		if !p.sorted {
			slices.SortStableFunc(c.found, func(a, b judged) int { return cmp.Compare(b.score, a.score) })
		}
	}
	p.sorted = true
	var sums [len(thresholds)]float64
	for _, id := range slices.Sorted(maps.Keys(p.classes)) { // sums do not depend on the order of a map
		c := p.classes[id]
		there := c.count(times)
		if there == 0 {
			continue
		}
		r.Classes++
		r.Boxes += there
		for t := range thresholds {
			sums[t] += c.average(t, there, times)
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

// average returns the average precision at a threshold, of so many boxes, in images that count so many times: at each recall that of
// the best precision from there on.
func (c *class) average(t, there int, times []int) float64 {
	recall := make([]float64, 0, len(c.found))
	precision := make([]float64, 0, len(c.found))
	right, wrong := 0, 0
	for i := range c.found {
		f := &c.found[i]
		n := times[f.image]
		switch {
		case n == 0:
			continue
		case f.right[t]:
			right += n
		case !f.nothing[t]:
			wrong += n
		}
		recall = append(recall, float64(right)/float64(there))
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
