package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"filewise"
	"filewise/engine/postgres/installed"
)

// shared are data directories that targets of the tests start from, by release, and what
// their servers stated when they were tried. initdb takes a second of a processor.
var shared struct {
	sync.Mutex
	templates map[string]string
	undo      []func() error
	facts     map[string][]filewise.Fact
}

// realTemplate describes how a target is opened outside of tests.
var realTemplate = makeTemplate

// share has targets that do not watch their processes share them.
func share() {
	shared.templates, shared.facts = map[string]string{}, map[string][]filewise.Fact{}
	makeTemplate = sharedTemplate
	own := tried
	tried = func(s *managedServer, try func() ([]filewise.Fact, error)) ([]filewise.Fact, error) {
		if s.target.OnStart != nil {
			return own(s, try)
		}
		key := fmt.Sprint(s.install.Bin, s.target.Durability, s.target.Settings)
		shared.Lock()
		facts, ok := shared.facts[key]
		shared.Unlock()
		if ok {
			return facts, nil
		}
		facts, err := own(s, try)
		if err == nil {
			shared.Lock()
			shared.facts[key] = facts
			shared.Unlock()
		}
		return facts, err
	}
}

func sharedTemplate(ctx context.Context, in installed.Server, a installed.Account, t filewise.Target) (string, func() error, error) {
	if t.OnStart != nil {
		return realTemplate(ctx, in, a, t)
	}
	shared.Lock()
	defer shared.Unlock()
	stays := func() error { return nil }
	if data, ok := shared.templates[in.Bin]; ok {
		return data, stays, nil
	}
	dir, err := os.MkdirTemp("", "fw")
	if err != nil {
		return "", nil, err
	}
	data, undo, err := realTemplate(ctx, in, a, filewise.Target{Volumes: []filewise.Volume{{Name: "shared", Dir: dir}}})
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	shared.templates[in.Bin] = data
	shared.undo = append(shared.undo, func() error { return errors.Join(undo(), os.Remove(dir)) })
	return data, stays, nil
}

// unshare removes what was shared.
func unshare() error {
	var err error
	for _, undo := range shared.undo {
		err = errors.Join(err, undo())
	}
	return err
}
