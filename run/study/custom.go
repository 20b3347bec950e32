package study

import (
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"filewise"
	"filewise/internal/filesystem"
	"filewise/lab/workload"
)

// custom reads the section custom, which was already checked.
func (l *loader) custom(n *node) (*workload.Custom, error) {
	c := &workload.Custom{}
	for _, f := range n.field("tables").all() {
		c.Tables = append(c.Tables, filewise.CustomTable{Name: f.name, Key: f.value.text})
	}
	if x := n.field("shard_by"); x != nil {
		c.ShardBy = x.text
	}
	var err error
	if x := n.field("setup"); x != nil {
		if c.Setup, err = l.script(x); err != nil {
			return nil, err
		}
	}
	if c.Think, err = l.think(n.field("think")); err != nil {
		return nil, err
	}
	for _, f := range n.field("parameters").all() {
		p, err := l.parameter(f)
		if err != nil {
			return nil, err
		}
		c.Parameters = append(c.Parameters, p)
	}
	for _, f := range n.field("transactions").all() {
		t := workload.Transaction{Name: f.name, Weight: 1}
		if w := f.value.field("weight"); w != nil {
			t.Weight = int(w.whole())
		}
		if t.SQL, err = l.script(f.value.field("sql")); err != nil {
			return nil, err
		}
		c.Transactions = append(c.Transactions, t)
	}
	if list := n.field("checks"); list != nil {
		for _, item := range list.items {
			check, err := l.checkOf(item)
			if err != nil {
				return nil, err
			}
			c.Checks = append(c.Checks, check)
		}
	}
	return c, nil
}

// all returns the fields of a mapping, or none if the node is nil.
func (n *node) all() []field {
	if n == nil {
		return nil
	}
	return n.fields
}

// whole returns the node's text as a number. The caller has checked that it is one.
func (n *node) whole() int64 {
	v, _ := strconv.ParseInt(n.text, 10, 64)
	return v
}

// script reads SQL, for all engines or by engine.
func (l *loader) script(n *node) (workload.Script, error) {
	if n.kind != kindMapping {
		return workload.Script{"": l.texts(n)}, nil
	}
	s := workload.Script{}
	for _, f := range n.fields {
		name, texts := f.name, l.texts(f.value)
		switch f.name {
		case keyDefault:
			name = ""
		case keyFile:
			var err error
			if texts, err = l.fileText(f.value); err != nil {
				return nil, err
			}
			name = ""
		}
		if _, twice := s[name]; twice {
			return nil, l.wrong(f.place, "give one of them", "SQL for all engines stands under default and in a file")
		}
		s[name] = texts
	}
	return s, nil
}

// texts returns a script, or a list of statements, as texts with their places.
func (l *loader) texts(n *node) []filewise.CustomText {
	nodes, whole := []*node{n}, false
	if n.kind == kindList {
		nodes, whole = n.items, true
	}
	var all []filewise.CustomText
	for _, x := range nodes {
		line := x.place.Line
		if x.block { // the text begins in the line below | or >
			line++
		}
		all = append(all, filewise.CustomText{Text: x.text, File: l.name, Line: line, Whole: whole})
	}
	return all
}

// fileText returns a script from a separate file.
func (l *loader) fileText(n *node) ([]filewise.CustomText, error) {
	path := n.text
	if l.form.Scripts != nil {
		text, ok := l.form.Scripts[path]
		if !ok {
			return nil, l.wrong(n.place, "start the campaign again by another --name", "the script %s has not come with the study", path)
		}
		return []filewise.CustomText{{Text: text, File: path, Line: 1}}, nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(l.dir, path)
	}
	failed := func(err error) error {
		return l.at(n.place, filewise.Errorf(filewise.CodeUsage, "give a path relative to the study file", "script: %w", err))
	}
	f, err := filesystem.Open(path)
	if err != nil {
		return nil, failed(err)
	}
	defer f.Close()
	const most = 4 << 20
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, failed(err)
	}
	if len(text) > most {
		return nil, l.wrong(n.place, "make rows by SQL (INSERT … SELECT) instead of listing them", "the script %s has more than %d bytes",
			n.text, most)
	}
	l.scripts[n.text] = string(text)
	return []filewise.CustomText{{Text: string(text), File: path, Line: 1}}, nil
}

func (l *loader) think(n *node) (workload.Think, error) {
	if n == nil {
		return workload.Think{}, nil
	}
	t := workload.Think{}
	at := n
	if n.kind == kindMapping {
		at, t.Exponential = n.field("mean"), true
	}
	var err error
	if t.Mean, err = time.ParseDuration(at.text); err != nil || t.Mean < 0 || t.Mean > time.Hour {
		return t, l.wrong(at.place, "give a time such as 10ms, up to 1h", "think %q is invalid", at.text)
	}
	return t, nil
}

func (l *loader) checkOf(n *node) (workload.CustomCheck, error) {
	c := workload.CustomCheck{Each: 1}
	var err error
	if c.Query, err = l.script(n.field("query")); err != nil {
		return c, err
	}
	expect, committed := n.field("expect"), n.field("committed")
	switch {
	case (expect == nil) == (committed == nil):
		return c, l.wrong(n.place, `add expect: VALUE, expect: no rows, or committed: TRANSACTION`, "a check has one of expect and committed")
	case expect != nil:
		if c.Expect = strings.TrimSpace(expect.text); c.Expect == "no rows" {
			c.Expect, c.NoRows = "", true
		}
	default:
		c.Committed = committed.text
	}
	for name, to := range map[string]*int64{"each": &c.Each, "plus": &c.Plus} {
		if x := n.field(name); x != nil {
			if committed == nil {
				return c, l.wrong(x.place, "leave it out", "%s belongs to committed", name)
			}
			*to = x.whole()
		}
	}
	return c, nil
}

// parameter reads how the values of a parameter are drawn.
func (l *loader) parameter(f field) (workload.Parameter, error) {
	n := f.value
	p := workload.Parameter{Name: f.name, Line: f.place.Line}
	if n.kind == kindText {
		p.Draw = n.text
		return p, nil
	}
	if len(n.fields) != 1 {
		return p, l.wrong(f.place, "give one, such as int: {from: 1, to: 1000}", "parameter %s has %d generators", f.name, len(n.fields))
	}
	x := n.fields[0].value
	p.Draw = n.fields[0].name
	switch p.Draw {
	case workload.DrawText, workload.DrawWord:
		if x.kind != kindMapping {
			p.From, p.To = x.whole(), x.whole()
			return p, nil
		}
	case workload.DrawChoice:
		for _, item := range x.items {
			p.Choices = append(p.Choices, item.text)
		}
		for _, item := range x.fields {
			p.Choices, p.Weights = append(p.Choices, item.name), append(p.Weights, int(item.value.whole()))
		}
		return p, nil
	case workload.DrawFloat:
		p.Low, _ = strconv.ParseFloat(x.field("from").text, 64) // checked already
		p.High, _ = strconv.ParseFloat(x.field("to").text, 64)
		return p, nil
	case workload.DrawTimestamp:
		var err error
		if p.Start, err = l.moment(x.field("from")); err == nil {
			p.End, err = l.moment(x.field("to"))
		}
		return p, err
	}
	for name, to := range map[string]*int64{"from": &p.From, "to": &p.To, "a": &p.A} {
		if v := x.field(name); v != nil {
			*to = v.whole()
		}
	}
	if p.Draw == workload.DrawZipf {
		p.Theta = 0.99
		if v := x.field("theta"); v != nil {
			p.Theta, _ = strconv.ParseFloat(v.text, 64)
		}
	}
	return p, nil
}

// moment reads a date, or a date with a time.
func (l *loader) moment(n *node) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05", time.DateOnly} {
		if t, err := time.Parse(layout, n.text); err == nil && t.Year() >= 1 && t.Year() <= 9999 {
			return t.UTC(), nil
		}
	}
	return time.Time{}, l.wrong(n.place, "give it as 2026-01-31 or 2026-01-31T12:00:00Z", "%q is no moment", n.text)
}
