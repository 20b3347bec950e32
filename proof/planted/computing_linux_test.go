package planted

import (
	"context"
	"fmt"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"filewise"
)

// computing is an engine whose operations compute longer than they have to.
type computing struct {
	filewise.Engine
	cost *atomic.Int64 // ns an operation
}

func (c computing) Open(ctx context.Context, t filewise.Target) (filewise.Server, error) {
	server, err := c.Engine.Open(ctx, t)
	if err != nil {
		return nil, err
	}
	return computingServer{server, c.cost}, nil
}

type computingServer struct {
	filewise.Server
	cost *atomic.Int64
}

func (s computingServer) Build(ctx context.Context, l filewise.Layout, p filewise.Program) (*filewise.Database, error) {
	db, err := s.Server.Build(ctx, l, p)
	if err == nil {
		db.Build = computingBuild{db.Build, s.cost}
	}
	return db, err
}

type computingBuild struct {
	filewise.Build
	cost *atomic.Int64
}

func (c computingBuild) Connect(ctx context.Context, phase, worker int) (filewise.Session, error) {
	s, err := c.Build.Connect(ctx, phase, worker)
	return computingSession{s, c.cost}, err
}

type computingSession struct {
	filewise.Session
	cost *atomic.Int64
}

func (s computingSession) Do(ctx context.Context, first, n int64) (int64, error) {
	done, err := s.Session.Do(ctx, first, n)
	for until := time.Now().Add(time.Duration(done * s.cost.Load())); time.Now().Before(until); { //nolint:revive // it computes
	}
	return done, err
}

// others is another process that computes for that share of the time.
func others(ctx context.Context, t testing.TB, share float64) {
	out, err := exec.CommandContext(ctx, "fio", "--name=neighbour", "--ioengine=cpuio", "--cpuchunks=5000",
		fmt.Sprintf("--cpuload=%.0f", min(max(100*share, 1), 100)), "--time_based", "--runtime=3600").CombinedOutput()
	if ctx.Err() == nil {
		t.Errorf("the neighbour ended: %v: %s", err, out)
	}
}
