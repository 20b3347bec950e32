package main

import (
	"context"
	"runtime"
	"sync"
)

// row is one way of judging in one world.
type row struct {
	world  world
	method string
	ours   bool
	tally  tally
}

// runWorld takes n experiments through one world: by the program, or by cells, and
// by the articles' ways where the design is that of trials.
func runWorld(ctx context.Context, w world, n int, seed uint64) ([]row, error) {
	rows := []row{{world: w, method: w.method(), ours: true}}
	ways := []func(uint64) (score, error){func(i uint64) (score, error) { return ours(ctx, w, seed, i) }}
	if w.slices == 0 && w.probe == 0 && !w.forget {
		for _, a := range articles() {
			rows = append(rows, row{world: w, method: a.name})
			ways = append(ways, func(i uint64) (score, error) { return a.judge(w, seed, i) })
		}
	}
	for r, way := range ways {
		scores, err := parallel(ctx, n, way)
		if err != nil {
			return nil, err
		}
		for _, s := range scores {
			rows[r].tally.add(s)
		}
	}
	return rows, nil
}

func (w world) method() string {
	switch {
	case w.single:
		return "one session"
	case w.slices > 0:
		return "cells"
	}
	return "filewise"
}

func ours(ctx context.Context, w world, seed, number uint64) (score, error) {
	if w.slices > 0 {
		r, err := sessions(w, seed, number)
		return scoreOf(w, r), err
	}
	j, err := whole(ctx, w, seed, number)
	return scoreOf(w, j.First().Result), err
}

// parallel calls f for 0 … n−1 on all processors; the scores are in order, and so
// do not depend on how many there are.
func parallel[T any](ctx context.Context, n int, f func(uint64) (T, error)) ([]T, error) {
	scores := make([]T, n)
	var group sync.WaitGroup
	var once sync.Once
	var failure error
	next := make(chan int)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := range next {
				var err error
				if scores[i], err = f(uint64(i)); err != nil {
					once.Do(func() { failure = err; cancel() })
				}
			}
		})
	}
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	group.Wait()
	if failure == nil {
		failure = context.Cause(ctx)
	}
	return scores, failure
}
