//go:build linux

package main

import "fmt"

// spreadRows returns rows that measure on SQLite, in this process: over many files, and by many connections.
func spreadRows() []row {
	short := func(p *place, args ...string) []string {
		return append([]string{"run", "inserts", "--engine=sqlite", "--window=1s", "--warm-up=100ms", "--max-blocks=3", "--budget=0", "--seed=3",
			"--storage-limit=off", "--observe=window", "--volume=here=" + p.dir}, args...)
	}
	return []row{
		{name: "SQLite files, 16 connections", unit: "files", sizes: [3]int{10, 100, 1000}, most: 250,
			why: "SQLite: two open connections a file, and the pages that they have read or written, up to 2 MiB each",
			command: func(p *place, _ row, size int) []string {
				return short(p, fmt.Sprintf("--files=1,%d", size), fmt.Sprintf("--size=%dMiB", max(size, 16)), "--connections=16")
			}},
		{name: "SQLite connections, 2 files", unit: "connections", sizes: [3]int{16, 600, 2000}, most: 190,
			why: "all wait for two write locks, which SQLite polls: the polls are the square of the connections",
			command: func(p *place, _ row, size int) []string {
				return short(p, "--files=1,2", "--size=16MiB", fmt.Sprintf("--connections=%d", size))
			}},
	}
}
