//go:build linux

// Command meaning runs every scenario on every engine with its defaults. It prints in Markdown what each run means: its
// conditions, the files' share of the time, and the measured share of the time. With -disk, each run compares one file
// on one throttled volume with two files on two. The table then has the factor that follows from the bytes next to the
// interval. A stopped measurement can be continued.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"filewise"

	"filewise/proof/planted"
)

// cell holds one run: a line of the file of cells.
type cell struct {
	Scenario, Engine string
	Args             []string // arguments in addition to the defaults
	Disk             bool     // on two throttled volumes

	Control    string               `json:",omitempty"` // why fio does not prove the volumes' speeds
	Failed     string               `json:",omitempty"` // the run's error, in place of a result
	Headline   string               `json:",omitempty"`
	Elapsed    time.Duration        `json:",omitempty"`
	Measuring  time.Duration        `json:",omitempty"`
	Files      float64              `json:",omitempty"` // the files' share of the time, from 0 to 1
	Written    int64                `json:",omitempty"` // by the run and its servers, in bytes
	Conditions []filewise.Condition `json:",omitempty"`
	Rungs      []string             `json:",omitempty"` // options that the ladder added
	Operations []operation          `json:",omitempty"`
}

// key identifies the cell's question.
func (c cell) key() string { return fmt.Sprint(c.Scenario, c.Engine, c.Args, c.Disk) }

// operation holds a run's result for one operation.
type operation struct {
	Name, Decision, Layout string
	Low, High              *float64 // interval of the last layout, in percent
	Cause                  string   `json:",omitempty"`
	Expected               *factor  `json:",omitempty"` // for runs on throttled volumes
}

type options struct {
	program, cells, scratch string
	scenarios, engines      []string
	disk                    bool
	args                    []string
}

func main() {
	var o options
	flag.StringVar(&o.program, "filewise", "bin/filewise", "the `program`")
	flag.StringVar(&o.cells, "cells", "meaning/cells.jsonl", "`file` of what was measured")
	flag.StringVar(&o.scratch, "scratch", os.TempDir(), "`directory` of the runs' stores")
	scenarios := flag.String("scenarios", "inserts,orders,dml,scan,temp,backup,dump", "by `names`")
	engines := flag.String("engines", "sqlite,mariadb,postgres,mysql", "by `names`")
	flag.StringVar(&planted.Name, "name", planted.Name, "`name` of the throttled volumes, for several benches at once")
	flag.BoolVar(&o.disk, "disk", false, "compare one file on one throttled volume with two files on two")
	flag.Parse()
	o.scenarios, o.engines, o.args = strings.Split(*scenarios, ","), strings.Split(*engines, ","), flag.Args()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := o.measure(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "meaning:", err)
		os.Exit(1)
	}
}

func (o options) measure(ctx context.Context) error {
	f, err := os.OpenFile(o.cells, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	done := map[string]cell{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c cell
		if json.Unmarshal(lines.Bytes(), &c) == nil { // a line that was cut short is measured again
			done[c.key()] = c
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	fmt.Println(head(o.disk))
	for _, s := range o.scenarios {
		for _, e := range o.engines {
			c := cell{Scenario: s, Engine: e, Args: o.args, Disk: o.disk}
			if old, ok := done[c.key()]; ok {
				c = old
			} else {
				if err := o.run(ctx, &c); err != nil {
					return err
				}
				if err := json.NewEncoder(f).Encode(c); err != nil {
					return err
				}
			}
			for _, row := range c.rows() {
				fmt.Println(row)
			}
		}
	}
	return nil
}

// run measures a cell. It returns an error of the machine, or after Ctrl-C. The run's own error is in the cell.
func (o options) run(ctx context.Context, c *cell) error {
	dir, err := os.MkdirTemp(o.scratch, "filewise-meaning-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	volumes, closed, err := o.volumes(ctx, c, dir)
	if err != nil {
		return err
	}
	r, err := o.execute(ctx, c, dir, volumes.args)
	if err == nil && c.Failed == "" {
		c.read(r, volumes)
		err = volumes.prove(ctx, c)
	}
	if e := closed(); err == nil {
		err = e
	}
	return err
}

// execute runs the program with its own store and state directory.
func (o options) execute(ctx context.Context, c *cell, dir string, args []string) (r result, err error) {
	var said strings.Builder
	args = slices.Concat([]string{"run", c.Scenario, "--engine", c.Engine, "--json"}, args, c.Args)
	cmd := exec.CommandContext(ctx, o.program, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Env = append(os.Environ(), "FILEWISE_STORE="+dir+"/store.db", "FILEWISE_STATE="+dir, "FILEWISE_LOCK="+dir)
	cmd.Stderr = &said
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return r, context.Cause(ctx)
	}
	if used, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		c.Written = used.Oublock * 512
	}
	if json.Unmarshal(out, &r) != nil || r.Judgement.Elapsed == 0 {
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		c.Failed = fmt.Sprintf("%v: %s", err, strings.Join(lines[max(len(lines)-2, 0):], " "))
	}
	return r, nil
}
