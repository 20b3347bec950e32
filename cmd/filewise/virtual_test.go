package main

import (
	"context"
	"os"
	"time"

	"filewise"
	"filewise/engine/fake"
	"filewise/engine/sqlite"
)

// virtualVariable has runs on SQLite planned as they are and measured in virtual time: for
// tests that need a stored run, and ask nothing about SQLite itself.
const virtualVariable = "TEST_FILEWISE_VIRTUAL"

func makeVirtual() {
	if os.Getenv(virtualVariable) == "" {
		return
	}
	now := fake.NewClock()
	now.Advance(time.Since(fake.Epoch))
	clock = now
	measured := fake.New(fake.Config{Clock: now, Noise: 0.05, Seed: uint64(now.Now().UnixNano())})
	all := engines()
	engines = func() []filewise.Engine {
		out := append([]filewise.Engine(nil), all...)
		for i, e := range out {
			if e.Name() == sqlite.New().Name() {
				out[i] = virtual{e, measured}
			}
		}
		return out
	}
}

// virtual is an engine with the fake's server.
type virtual struct {
	filewise.Engine
	measured *fake.Engine
}

func (v virtual) Open(ctx context.Context, t filewise.Target) (filewise.Server, error) {
	return v.measured.Open(ctx, t)
}
