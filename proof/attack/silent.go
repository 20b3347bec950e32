//go:build linux

package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"filewise"
)

// silentCommands has every command that asks a server ask one that takes connections and never answers. All must give
// it up within the same time, and fail.
func silentCommands(p *place) error {
	l, err := (&net.ListenConfig{}).Listen(p.Context, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close() // the system takes the connections
	var all []*child
	for _, engine := range []string{"mysql", "mariadb", "postgres"} {
		target := fmt.Sprintf("--target=%s://u@%s/", engine, l.Addr())
		for _, args := range [][]string{{"run", "--files=1,2"}, {"doctor"}, {"clean", "--dry-run"}, {"inspect"}, {"capture", "--database=d"},
			{"backup", "--database=d"}} {
			p.env = append(p.env, fmt.Sprintf("FILEWISE_LOCK=attack-silent-%d-%d", os.Getpid(), len(all)))
			c, err := p.start(nil, append(args, target, "--no-password")...)
			if err != nil {
				return err
			}
			all = append(all, c)
		}
	}
	limit := time.After(filewise.ReadPatience + 20*time.Second) // all programs start at once
	p.count = len(all)
	for _, c := range all {
		select {
		case <-c.ended:
		case <-limit:
			return errors.Join(err, fmt.Errorf("filewise %v hangs", c.Args[1:]))
		}
		if code := c.ProcessState.ExitCode(); code != 3 {
			err = errors.Join(err, fmt.Errorf("filewise %v: exit code %d: %.500s", c.Args[1:], code, c.stderr.Bytes()))
		}
		err = errors.Join(err, c.sound())
	}
	return err
}
