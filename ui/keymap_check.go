package ui

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// A KeyContext is where keys mean something: a screen by its name, or [Everywhere].
type KeyContext struct {
	Name string
	Keys []KeyAction
}

// A KeyAction is what keys do.
type KeyAction struct {
	Name    string
	Keys    []string // as they are now; where there are several with meanings of their own, in the order that Text has them
	Default []string
	Text    string
}

// keyed is a view whose keys depend on its state.
type keyed interface {
	// AllKeys returns those that it has in any state.
	AllKeys() []Key
}

func allKeys(v View) []Key {
	if k, ok := v.(keyed); ok {
		return k.AllKeys()
	}
	return v.Keys()
}

// KeyContexts returns all keys of the program, as they are now.
func (a *App) KeyContexts() []KeyContext {
	contexts := []KeyContext{a.keyContext(Everywhere, slices.Concat(a.everywhere(wholeScreen()), intentKeys(a.others)))}
	for _, s := range a.screens {
		var keys []Key
		for _, v := range s.Views {
			keys = append(keys, allKeys(v)...)
		}
		if c := a.keyContext(s.Name, keys); len(c.Keys) > 0 {
			contexts = append(contexts, c)
		}
	}
	return contexts
}

// wholeScreen is one that has every key of the frame.
func wholeScreen() *Screen { return &Screen{Views: make([]View, 2), Layouts: make([]Box, 2)} }

func intentKeys(list []IntentKey) []Key {
	var keys []Key
	for _, k := range list {
		keys = append(keys, k.Key)
	}
	return keys
}

// keyContext lists keys, those of one name and number once.
func (a *App) keyContext(name string, keys []Key) KeyContext {
	c := KeyContext{Name: name}
	for _, k := range keys {
		same := func(o KeyAction) bool { return o.Name == k.action() && slices.Equal(o.Default, k.Keys) }
		if !slices.ContainsFunc(c.Keys, same) {
			c.Keys = append(c.Keys, KeyAction{k.action(), a.keys.of(name, k).Keys, k.Keys, k.Long})
		}
	}
	return c
}

// setKeys takes what a file says of keys. The error names line and actions of everything that cannot be.
func (a *App) setKeys(m *Keymap) error {
	if m == nil {
		return nil
	}
	var problems []error
	contexts := a.KeyContexts()
	a.keys = keyContexts{}
	for _, b := range m.bindings {
		if err := a.bind(contexts, b); err != nil {
			problems = append(problems, m.at(b.line, err))
		}
	}
	if len(problems) == 0 {
		problems = a.conflicts(m)
	}
	a.look.keyNow = keyNow(a.KeyContexts())
	return errors.Join(problems...)
}

// bind gives an action its keys.
func (a *App) bind(contexts []KeyContext, b keyBinding) error {
	i := slices.IndexFunc(contexts, func(c KeyContext) bool { return strings.EqualFold(c.Name, b.context) })
	if i < 0 {
		var names []string
		for _, c := range contexts {
			names = append(names, c.Name)
		}
		return fmt.Errorf("there is no context %q: it is one of %s%s", b.context, strings.Join(names, ", "), closest(b.context, names))
	}
	c := contexts[i]
	var names []string
	var of []KeyAction
	for _, k := range c.Keys {
		if names = append(names, k.Name); k.Name == b.action {
			of = append(of, k)
		}
	}
	if len(of) == 0 {
		return fmt.Errorf("%s has no action %q%s", c.Name, b.action, closest(b.action, names))
	}
	for _, k := range of {
		if len(b.keys) != len(k.Default) {
			return fmt.Errorf("%s has %d keys (%s: %s): want as many", b.action, len(k.Default), strings.Join(k.Default, " "), k.Text)
		}
		for n, key := range b.keys {
			own := k.Default[n]
			for _, of := range []string{key, own} {
				if why := fixed(of); why != "" && key != own {
					return fmt.Errorf("%s: the key %s cannot be changed: %s", b.action, of, why)
				}
			}
			if textKey(key) && !slices.ContainsFunc(MotionKeys(), func(m Key) bool { return m.action() == b.action }) {
				return fmt.Errorf("%s: the key %s cannot be had: text entry needs it", b.action, key)
			}
		}
	}
	if a.keys[c.Name] == nil {
		a.keys[c.Name] = map[string][]string{}
	}
	a.keys[c.Name][b.action] = b.keys
	return nil
}

// conflicts returns every key that now means two things in a pane, each once.
func (a *App) conflicts(m *Keymap) (problems []error) {
	told := map[string]bool{}
	type use struct{ context, action string }
	line := func(uses ...use) int {
		for _, u := range uses {
			for _, b := range m.bindings {
				if strings.EqualFold(b.context, u.context) && b.action == u.action {
					return b.line
				}
			}
		}
		return 0
	}
	check := func(taken map[string]use, context string, keys []Key) {
		for _, k := range keys {
			for _, key := range a.keys.of(context, k).Keys {
				now := use{context, k.action()}
				was, ok := taken[key]
				if taken[key] = now; !ok || was == now || fixed(key) != "" {
					continue
				}
				text := fmt.Sprintf("the key %s is both %q (%s) and %q (%s)", key, was.action, was.context, now.action, now.context)
				if at := line(now, was); at > 0 && !told[text] {
					told[text] = true
					problems = append(problems, m.at(at, errors.New(text)))
				}
			}
		}
	}
	for _, s := range a.screens {
		for _, v := range s.Views {
			taken := map[string]use{}
			check(taken, Everywhere, a.everywhere(wholeScreen()))
			check(taken, s.Name, v.Keys())
		}
	}
	return problems
}

// wordDistance is how far two names are from each other, whatever their case.
func wordDistance(a, b string) int {
	return levenshtein.ComputeDistance(strings.ToLower(a), strings.ToLower(b))
}
